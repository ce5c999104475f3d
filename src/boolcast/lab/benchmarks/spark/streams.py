"""Contenders of `boolcast bench spark` that write the same matches as a stream of batches."""

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
"""Files of events for a stream, and for the batch job that it is compared with."""

_FILES_A_BATCH: Final = 2
_ID: Final = "id"
_TRIGGER: Final = 1.0
_ROWS: Final = "subscription string, filter string"
_CHANGED: Final = 1_000


class Batches(NamedTuple):
    """The seconds of each batch, and how many versions of the index the stream used."""

    seconds: tuple[float, ...]
    versions: int


def streamed_matches(
    index: str, folder: Path, event_id: str, *, with_changes: bool = False
) -> Callable[[DataFrame], Batches]:
    """Read the files of the events as a stream, and write matches to Parquet.

    With changes, a thousand subscriptions change after each batch. Each batch must use the
    version that was current when it began.
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
            index,
            event_id=_ID,
            output=folder / name,
            checkpoint=folder / f"{name}-checkpoint",
            trigger=_TRIGGER,
        )
        try:
            return _followed(stream, events, index, with_changes=with_changes)
        finally:
            stream.stop()

    return run


def folder_of(events: DataFrame) -> Path:
    """The folder that the events were read from."""
    return Path(unquote(urlsplit(events.inputFiles()[0]).path)).parent


def _followed(stream: MatchStream, events: DataFrame, index: str, *, with_changes: bool) -> Batches:
    """Wait until all events are matched; with changes, change subscriptions meanwhile."""
    wanted = ceil(len(events.inputFiles()) / _FILES_A_BATCH)
    done: list[Batch] = []
    known: list[tuple[int, float]] = []
    while len(done) < wanted:
        assert not stream.wait(0.05), "the stream has ended by itself"
        found = stream.published()
        done += found
        if with_changes and found and len(done) < wanted:
            # Not those of the workload, so that all contenders find the same matches.
            rows = [(f"c{number}", f"title = 'none {len(done)}'") for number in range(_CHANGED)]
            changes = events.sparkSession.createDataFrame(rows, _ROWS)
            known.append((apply_changes(changes, index).version, time()))
    for batch in done:
        assert all(batch.version >= version for version, at in known if at < batch.started)
    return Batches(tuple(batch.seconds for batch in done), len({each.version for each in done}))
