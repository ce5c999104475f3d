"""The record of a stream, in the place of its output: what makes it exactly once.

::

    stream.json                          whose output this is: checkpoint, index, event id, schema
    pins/00000012.json                   batch 12 is matched with this version of the index
    matches/00000012/<random>.parquet    files of batch 12, of all attempts at it
    dead_letters/00000012/<random>.parquet
    batches/00000012.json                the manifest of batch 12: which of the files count

All of it is put by `put_if_absent` and never changed, so that a folder and an object store serve
alike. A batch comes into being when its manifest is put, after all that it names; a reader reads
manifests first and nothing that they do not name, so it sees a batch whole or not at all. Spark
gives a batch the same id and the same events when it repeats it: the repetition finds the
manifest and is done. Of two drivers at the same batch one puts the manifest, and the other's files
do not count. An id alone does not tell a repetition: a checkpoint that was put back to an earlier
state gives the ids of published batches to new events. So the manifest also holds a fingerprint of
what the checkpoint says of the batch, and a batch that has another one is refused.

Files of a batch that its manifest does not name are left from attempts that failed. They are
deleted when the next batch begins: nobody can publish them any more, and no reader knows them.
Files of a batch without a manifest are left alone, somebody may yet publish them.
"""

import os
import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Final, Literal, TypeVar

import msgspec

from boolcast.errors import OutputError, StreamError
from boolcast.matching.store.store import Store
from boolcast.model.schemas import Schema

MATCHES: Final = "matches"
DEAD_LETTERS: Final = "dead_letters"
FORMAT: Final = 1

_IDENTITY: Final = "stream.json"
_CHECKPOINT_IDENTITY: Final = "boolcast.json"
_BATCH: Final = re.compile(r"batches/(\d{8,})\.json")
_PIN: Final = re.compile(r"pins/(\d{8,})\.json")

Reader = Literal["spark", "workers"]
Record = TypeVar("Record", bound=msgspec.Struct)
Result = TypeVar("Result")


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """Whose output this is; `checkpoint` is a random name that the checkpoint bears too.

    `events`, `matches` and `dead_letters` are schemas of Spark, as JSON: of the events at the
    first start, and of both tables. `schema` is Boolcast's, which outputs of old do not tell.
    `reader` says who reads the events: Spark, or the workers from files.
    """

    format: int = FORMAT
    checkpoint: str
    index: str
    event_id: str
    json: str | None
    form: str
    events: str
    matches: str
    dead_letters: str
    schema: Schema | msgspec.UnsetType | None = msgspec.UNSET
    reader: Reader = "spark"


class DataFile(msgspec.Struct, frozen=True):
    """A Parquet file of a batch, by its name in the store."""

    name: str
    rows: int
    bytes: int


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """A published batch: the version that matched it, its counts, and its files.

    `started` is in seconds since 1970, `seconds` what the batch took up to its publication,
    `warnings` what was wrong with versions of the index that had to be passed over or with the
    names and times of files, `offsets` the fingerprint of its events (`batch_offsets`), which
    outputs of old do not know.
    """

    batch: int
    version: int
    events: int
    started: float
    seconds: float
    matches: tuple[DataFile, ...]
    dead_letters: tuple[DataFile, ...]
    warnings: tuple[str, ...] = ()
    offsets: str | None = None

    @property
    def match_count(self) -> int:
        """Rows of matches: one a match, or one an event, as the form says."""
        return sum(file.rows for file in self.matches)

    @property
    def dead_letter_count(self) -> int:
        """Events that could not be matched."""
        return sum(file.rows for file in self.dead_letters)


class _Pin(msgspec.Struct, frozen=True):
    version: int


class _CheckpointIdentity(msgspec.Struct, frozen=True):
    checkpoint: str


class Ledger:
    """The record of one stream in a store; any number of them may work on the same store.

    Raises OutputError where the store cannot be written or read, StreamError where what it holds
    is not what a stream has left there.
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    def identity(self) -> Identity | None:
        """Whose output this is; None if nobody's yet."""
        return self._read(_IDENTITY, Identity)

    def claim(self, identity: Identity) -> tuple[Identity, bool]:
        """Make the output this stream's, if it is nobody's; gives whose it is, and if this did."""
        is_new = self._put(_IDENTITY, identity)
        known = self.identity()
        assert known is not None
        return known, is_new

    def release(self) -> None:
        """Make the output nobody's again, because the stream that claimed it did not start."""
        self._attempt("change", lambda: self.store.delete(_IDENTITY))

    def batches(self) -> list[int]:
        """The ids of the published batches, in order."""
        return self._numbers("batches/", _BATCH)

    def batch(self, batch: int) -> Batch | None:
        """A published batch; None if it is not published."""
        return self._read(_batch_name(batch), Batch)

    def publish(self, batch: Batch) -> Batch:
        """Publish a batch whose files are there; gives what is published under its id.

        That is another attempt's batch if that one was faster.
        """
        if self._put(_batch_name(batch.batch), batch):
            return batch
        known = self.batch(batch.batch)
        assert known is not None
        return known

    def pin(self, batch: int, version: int) -> int:
        """Bind a batch to a version, unless an attempt before has; gives the version."""
        if self._put(_pin_name(batch), _Pin(version)):
            return version
        pinned = self.pinned(batch)
        # Gone: another driver has published the batch meanwhile, and this attempt is idle.
        return version if pinned is None else pinned

    def pinned(self, batch: int) -> int | None:
        """The version that a batch is bound to, if it is and has not been cleaned."""
        pin = self._read(_pin_name(batch), _Pin)
        return None if pin is None else pin.version

    def unpin(self, batch: int) -> None:
        """Free a batch that is not published from a version that is no more."""
        self._attempt("change", lambda: self.store.delete(_pin_name(batch)))

    def versions_in_use(self) -> set[int]:
        """The versions that unfinished batches are bound to, and that of the last finished one."""
        last = self.batches()[-1:]
        used = {self.pinned(each) for each in self._numbers("pins/", _PIN)}
        used |= {batch.version for each in last if (batch := self.batch(each))}
        return {version for version in used if version is not None}

    def clean(self, batch: int) -> None:
        """Delete what failed attempts at a published batch have left, and its pin."""
        published = self.batch(batch)
        assert published is not None
        kept = {file.name for file in (*published.matches, *published.dead_letters)}

        def delete() -> None:
            for table in (MATCHES, DEAD_LETTERS):
                for name in self.store.list(f"{table}/{batch:08}/"):
                    if name not in kept:
                        self.store.delete(name)
            for name in self.store.list("pins/"):
                if name.startswith(f"pins/{batch:08}."):
                    self.store.delete(name)

        self._attempt("clean", delete)

    def _numbers(self, prefix: str, pattern: re.Pattern[str]) -> list[int]:
        names = self._attempt("read", lambda: self.store.list(prefix))
        return sorted(int(match[1]) for name in names if (match := pattern.fullmatch(name)))

    def _put(self, name: str, record: msgspec.Struct) -> bool:
        data = msgspec.json.encode(record)
        return self._attempt("write", lambda: self.store.put_if_absent(name, data))

    def _read(self, name: str, kind: type[Record]) -> Record | None:
        return _read(self.store, name, kind)

    def _attempt(self, verb: str, action: Callable[[], Result]) -> Result:
        return attempt(self.store, verb, action)


def checkpoint_name(checkpoint: Store) -> str:
    """The random name of a checkpoint, given to it if it has none.

    By it an output knows its checkpoint: one that was deleted and begun anew would give old
    batch ids to new events, which would then be taken for repetitions.
    """
    fresh = _CheckpointIdentity(os.urandom(16).hex())
    data = msgspec.json.encode(fresh)
    attempt(checkpoint, "write", lambda: checkpoint.put_if_absent(_CHECKPOINT_IDENTITY, data))
    known = _read(checkpoint, _CHECKPOINT_IDENTITY, _CheckpointIdentity)
    assert known is not None
    return known.checkpoint


def batch_offsets(checkpoint: Store, batch: int) -> str:
    """A fingerprint of the events of a batch that Spark has begun.

    Spark writes the offsets of a batch down before it begins, once, and repeats it by them. The
    time is among them, so that no two are alike, even where a source only counts its batches.
    """
    data = attempt(checkpoint, "read", lambda: checkpoint.get(f"offsets/{batch}"))
    return sha256(data).hexdigest()


def file_names(table: str, batch: int) -> Iterator[str]:
    """Names for files of a batch that nobody else will ever take."""
    attempt = os.urandom(8).hex()
    number = 0
    while True:
        yield f"{table}/{batch:08}/{attempt}-{number}.parquet"
        number += 1


def _batch_name(batch: int) -> str:
    return f"batches/{batch:08}.json"


def _pin_name(batch: int) -> str:
    return f"pins/{batch:08}.json"


def _read(store: Store, name: str, kind: type[Record]) -> Record | None:
    def read() -> bytes | None:
        try:
            return store.get(name)
        except FileNotFoundError:
            return None

    data = attempt(store, "read", read)
    if data is None:
        return None
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StreamError(f"{name} in {store} is not what a stream wrote there: {error}") from None


def attempt(store: Store, verb: str, action: Callable[[], Result]) -> Result:
    """What an action gives that may fail with OSError. Raises OutputError then."""
    try:
        return action()
    except OSError as error:
        raise unwritable(store, verb, error) from error


def unwritable(store: Store, verb: str, error: OSError) -> OutputError:
    """What to say of a place that failed, to whoever runs the stream."""
    return OutputError(
        f"cannot {verb} {store}: {error.strerror or error}. What is published there is whole; "
        "once this is mended, start the stream again and it goes on"
    )
