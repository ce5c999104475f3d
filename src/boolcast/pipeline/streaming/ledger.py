"""The ledger of a stream, in its output: it makes each result appear exactly once.

::

    stream.json                          the owner: checkpoint, index, event id, schema
    pins/00000012.json                   batch 12 is matched with this version of the index
    matches/00000012/<random>.parquet    files of batch 12, from all attempts
    dead_letters/00000012/<random>.parquet
    batches/00000012.json                the manifest of batch 12: which of the files count

Every file is written with `put_if_absent` and never changed, so a folder and an object store work
alike. A batch is published when its manifest is written, after all files that it names. A reader
reads manifests first and only the files that they name, so it sees a whole batch or nothing.

When Spark repeats a batch, it has the same id and the same events. The repetition finds the
manifest and stops. If two drivers run the same batch, one writes the manifest, and the other's
files do not count. The id alone does not prove a repetition: a checkpoint that was restored to an
earlier state gives the ids of published batches to new events. So the manifest also holds a
fingerprint of the batch's offsets in the checkpoint, and a batch with another one is refused.

Files that the manifest does not name are left from failed attempts. They are deleted when the next
batch begins: nobody can publish them any more, and no reader knows them. Files of a batch without
a manifest stay: an attempt may still publish them.
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
    """The stream that owns an output; `checkpoint` is a random name that its checkpoint also has.

    `events`, `matches` and `dead_letters` are Spark schemas as JSON: of the events at the first
    start, and of both tables. `schema` is Boolcast's; old outputs do not have it. `reader` says
    who reads the events: Spark, or the workers from files.
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

    `started` is in seconds since 1970, `seconds` is the time up to its publication. `warnings`
    are about skipped versions of the index, and about names and times of files. `offsets` is the
    fingerprint of its events (`batch_offsets`); old outputs do not have it.
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
        """Rows of matches: one per match, or one per event with the form `lists`."""
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
    """The ledger of one stream in a store; several processes may use the same store.

    Raises OutputError if the store cannot be written or read, and StreamError if its content is
    not what a stream wrote.
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    def identity(self) -> Identity | None:
        """The owner of the output; None if it has none yet."""
        return self._read(_IDENTITY, Identity)

    def take_ownership(self, identity: Identity) -> tuple[Identity, bool]:
        """Make this stream the owner, if there is none; gives the owner, and if it is new."""
        is_new = self._put(_IDENTITY, identity)
        known = self.identity()
        assert known is not None
        return known, is_new

    def release(self) -> None:
        """Remove the owner, because the stream that owned the output did not start."""
        self._attempt("change", lambda: self.store.delete(_IDENTITY))

    def batches(self) -> list[int]:
        """The ids of the published batches, in order."""
        return self._numbers("batches/", _BATCH)

    def batch(self, batch: int) -> Batch | None:
        """A published batch; None if it is not published."""
        return self._read(_batch_name(batch), Batch)

    def publish(self, batch: Batch) -> Batch:
        """Publish a batch whose files are written; gives the batch published under its id.

        It is another attempt's batch if that one was faster.
        """
        if self._put(_batch_name(batch.batch), batch):
            return batch
        known = self.batch(batch.batch)
        assert known is not None
        return known

    def pin(self, batch: int, version: int) -> int:
        """Pin a batch to a version, unless an earlier attempt has; gives the version."""
        if self._put(_pin_name(batch), _Pin(version)):
            return version
        pinned = self.pinned(batch)
        # Gone: another driver has published the batch meanwhile, and this attempt is void.
        return version if pinned is None else pinned

    def pinned(self, batch: int) -> int | None:
        """The version that a batch is pinned to, if any."""
        pin = self._read(_pin_name(batch), _Pin)
        return None if pin is None else pin.version

    def unpin(self, batch: int) -> None:
        """Remove the pin of an unpublished batch whose version is gone or damaged."""
        self._attempt("change", lambda: self.store.delete(_pin_name(batch)))

    def versions_in_use(self) -> set[int]:
        """The versions that unfinished batches are pinned to, and that of the last batch."""
        last = self.batches()[-1:]
        used = {self.pinned(each) for each in self._numbers("pins/", _PIN)}
        used |= {batch.version for each in last if (batch := self.batch(each))}
        return {version for version in used if version is not None}

    def clean(self, batch: int) -> None:
        """Delete the files that failed attempts at a published batch left, and its pin."""
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
    """The random name of a checkpoint, created if it has none.

    It identifies the checkpoint of an output. A checkpoint that was deleted and started again
    would give old batch ids to new events, which would look like repetitions.
    """
    fresh = _CheckpointIdentity(os.urandom(16).hex())
    data = msgspec.json.encode(fresh)
    attempt(checkpoint, "write", lambda: checkpoint.put_if_absent(_CHECKPOINT_IDENTITY, data))
    known = _read(checkpoint, _CHECKPOINT_IDENTITY, _CheckpointIdentity)
    assert known is not None
    return known.checkpoint


def batch_offsets(checkpoint: Store, batch: int) -> str:
    """A fingerprint of the events of a batch that Spark has begun.

    Spark writes the offsets of a batch once, before it begins, and repeats the batch from them.
    They include the time, so no two batches are alike, even if a source only counts batches.
    """
    data = attempt(checkpoint, "read", lambda: checkpoint.get(f"offsets/{batch}"))
    return sha256(data).hexdigest()


def file_names(table: str, batch: int) -> Iterator[str]:
    """Unique names for files of a batch."""
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
    """Run an action; an OSError becomes an OutputError."""
    try:
        return action()
    except OSError as error:
        raise unwritable(store, verb, error) from error


def unwritable(store: Store, verb: str, error: OSError) -> OutputError:
    """The error for a store that failed."""
    return OutputError(
        f"cannot {verb} {store}: {error.strerror or error}. Published batches are complete. Fix "
        "the cause and start the stream again to continue"
    )
