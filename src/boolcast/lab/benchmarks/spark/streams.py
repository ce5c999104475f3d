"""Streams among the contenders of `boolcast bench spark`: the same matches, batch by batch."""

from collections.abc import Callable
from itertools import count
from math import ceil
from pathlib import Path
from time import time
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

from pyspark.sql import DataFrame

from boolcast.pipeline import MatchStream, apply_changes, match_stream
from boolcast.pipeline.streaming.ledger import Batch

FILES: Final = 16
"""Into how many files events are cut for a stream, and for what is compared with it."""

_FILES_A_BATCH: Final = 2
_ID: Final = "id"
_TRIGGER: Final = 1.0
_ROWS: Final = "subscription string, filter string"
_CHANGED: Final = 1_000


class Batches(NamedTuple):
    """How long the batches of a stream took; `versions` of the index were served."""

    seconds: tuple[float, ...]
    versions: int


def streamed_matches(
    place: str, folder: Path, event_id: str, *, with_changes: bool = False
) -> Callable[[DataFrame], Batches]:
    """The matches of a stream of the files that the events are in, as Parquet.

    With changes a thousand subscriptions change whenever a batch is done; each batch must have
    the version that was there when it began.
    """
    numbers = count()

    def run(events: DataFrame) -> Batches:
        session, name = events.sparkSession, f"stream-{int(with_changes)}-{next(numbers)}"
        source = (
            session.readStream.schema(events.schema)
            .option("maxFilesPerTrigger", _FILES_A_BATCH)
            .parquet(str(folder_of(events)))
            .withColumnRenamed(event_id, _ID)
        )
        stream = match_stream(
            source,
            place,
            event_id=_ID,
            output=folder / name,
            checkpoint=folder / f"{name}-checkpoint",
            trigger=_TRIGGER,
        )
        try:
            return _followed(stream, events, place, with_changes=with_changes)
        finally:
            stream.stop()

    return run


def folder_of(events: DataFrame) -> Path:
    """Where the files are that the events were read from."""
    return Path(unquote(urlsplit(events.inputFiles()[0]).path)).parent


def _followed(stream: MatchStream, events: DataFrame, place: str, *, with_changes: bool) -> Batches:
    """Wait until all is matched, and change subscriptions meanwhile if asked to."""
    wanted = ceil(len(events.inputFiles()) / _FILES_A_BATCH)
    done: list[Batch] = []
    known: list[tuple[int, float]] = []
    while len(done) < wanted:
        assert not stream.wait(0.05), "the stream has ended by itself"
        found = stream.published()
        done += found
        if with_changes and found and len(done) < wanted:
            # Of others than those of the workload, so that all contenders find the same.
            rows = [(f"c{number}", f"title = 'none {len(done)}'") for number in range(_CHANGED)]
            changes = events.sparkSession.createDataFrame(rows, _ROWS)
            known.append((apply_changes(changes, place).version, time()))
    for batch in done:
        assert all(batch.version >= version for version, at in known if at < batch.started)
    return Batches(tuple(batch.seconds for batch in done), len({each.version for each in done}))
