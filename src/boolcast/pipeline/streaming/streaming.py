"""Matching a stream: each batch with one version of the index, each result exactly once.

Spark cuts the stream into batches and repeats one that did not come to its end. `ledger` makes
the repetition harmless, `serving` chooses the version, `delivery` is what the tasks do; this
module drives them. All of it is as durable as the checkpoint: Spark does not sync it to disk, so
it outlives the death of any process, but on a local disk not a loss of power.
"""

import os
from collections import deque
from threading import Event
from time import monotonic, sleep, time
from typing import Final, NoReturn, cast

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from boolcast.errors import BoolcastError, StreamError, UsageError
from boolcast.matching.store.store import Place, Store
from boolcast.model.schemas import Schema
from boolcast.pipeline.events.parquet_streaming import ParquetStream
from boolcast.pipeline.matching.match_task import Form
from boolcast.pipeline.matching.matches import MEMORY
from boolcast.pipeline.spark.failures import SPARK_ERRORS, SparkError, cause_of
from boolcast.pipeline.spark.stores import open_store
from boolcast.pipeline.streaming.checkpoint_files import check_files, doubling, files_of
from boolcast.pipeline.streaming.delivery import EVENTS, REPORT, Delivery
from boolcast.pipeline.streaming.ledger import (
    DEAD_LETTERS,
    MATCHES,
    Batch,
    DataFile,
    Ledger,
    batch_offsets,
)
from boolcast.pipeline.streaming.stream_identity import (
    BEGIN_ANEW,
    Settings,
    StreamSource,
    check_columns,
    claim,
    source_of,
)
from boolcast.pipeline.streaming.version_pinning import Serving

_LONGEST_TRIGGER: Final = 1e9


def match_stream(  # noqa: PLR0913 - by keyword, and each is a choice of the user's
    events: DataFrame | ParquetStream,
    store: Place,
    *,
    event_id: str,
    output: Place,
    checkpoint: str | os.PathLike[str],
    json: str | None = None,
    trigger: float | None = 1.0,
    form: Form = "rows",
    schema: Schema | None = None,
    memory: int = MEMORY,
) -> "MatchStream":
    """Match a stream of events, batch by batch, each with the newest version of the index.

    The events are a streaming DataFrame, or files that `parquet_stream` gives. `event_id`,
    `json`, `schema`, `form` and `memory` are as in `match`, and so are the results,
    but for two more columns, `version` and `batch`. They go to `output`, exactly once, and are
    read by `read_matches` and `read_dead_letters`; events that are malformed or have no id are
    dead letters. `checkpoint` is Spark's: with the same checkpoint, output, index and columns, a
    stream that was stopped or killed goes on where it was. `trigger` is the least number of
    seconds from one batch to the next; None matches what is there now and ends.

    Raises UsageError, StoreError if there is no index yet, StreamError if the checkpoint and the
    output belong to another stream, OutputError if they cannot be written.
    """
    # Also NaN fails, and what Spark cannot count in microseconds.
    if trigger is not None and not 0 <= trigger <= _LONGEST_TRIGGER:
        raise UsageError(f"the trigger is None or a number of seconds, and not {trigger}")
    settings = Settings(
        store=open_store(store),
        event_id=event_id,
        json=json,
        schema=schema,
        form=form,
        memory=memory,
    )
    serving = Serving(settings.store)
    ledger = Ledger(open_store(output))
    source = source_of(events, event_id, ledger)
    check_columns(source, settings, serving.newest())
    place = open_store(checkpoint)
    is_new = claim(ledger, source, settings, place)
    job = _Job(settings, source, serving, ledger, place)
    writer = source.frame.writeStream.foreachBatch(job.run).option("checkpointLocation", str(place))
    if trigger is None:
        writer = writer.trigger(availableNow=True)
    else:
        writer = writer.trigger(processingTime=f"{int(trigger * 1000)} milliseconds")
    try:
        return MatchStream(writer.start(), job)
    except SPARK_ERRORS as error:
        # Nothing was begun, so the settings may yet change.
        if is_new:
            ledger.release()
        job.explain(error)


class MatchStream:
    """A stream that is being matched; `query` is Spark's handle of it."""

    def __init__(self, query: StreamingQuery, job: "_Job") -> None:
        self.query = query
        self._job = job

    @property
    def is_active(self) -> bool:
        """False once it has ended, for whatever reason."""
        return self.query.isActive

    def published(self) -> list[Batch]:
        """The batches that were published since the last call, in order."""
        return [self._job.published.popleft() for _ in range(len(self._job.published))]

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the stream has ended, or so long; True if it has ended.

        Raises what ended it, if it was not `stop` or, without a trigger, the end of the events.
        """
        try:
            if seconds is None:
                self.query.awaitTermination()
                return True
            # Spark takes fractions of a second too, whatever its annotation says.
            return bool(self.query.awaitTermination(cast("int", seconds)))
        except StreamingQueryException as error:
            if self._job.stopping.is_set() and self._job.failure is None:
                return True
            self._job.explain(error)

    def stop(self, patience: float = 600.0) -> None:
        """Let the batch at work come to its end, or wait so many seconds for it, and stop."""
        self._job.stopping.set()
        deadline = monotonic() + patience
        while self._job.is_working and monotonic() < deadline:
            sleep(0.02)
        self.query.stop()
        self.wait()


class _Stopping(Exception):  # noqa: N818 - no error: what keeps Spark from going on
    pass


class _Job:
    """What Spark calls for every batch, one at a time."""

    def __init__(
        self,
        settings: Settings,
        source: StreamSource,
        serving: Serving,
        ledger: Ledger,
        checkpoint: Store,
    ) -> None:
        self.published: deque[Batch] = deque()
        self.stopping = Event()
        self.is_working = False
        self.failure: BoolcastError | None = None
        self._settings = settings
        self._source = source
        self._serving = serving
        self._ledger = ledger
        self._checkpoint = checkpoint
        self._is_first = True

    def run(self, events: DataFrame, batch: int) -> None:
        self.is_working = True
        try:
            if self.stopping.is_set():
                raise _Stopping
            self._run(events, batch)
        except BoolcastError as error:
            self.failure = error
            raise
        except SPARK_ERRORS as error:
            if self.stopping.is_set() and cause_of(error) is None:
                # Spark searches what is raised here for its own interruption, by a pattern that
                # overflows Java's stack on a long text; and nobody wants to read a thousand lines.
                raise _Stopping from None
            self.explain(error)
        finally:
            self.is_working = False

    def _run(self, events: DataFrame, batch: int) -> None:
        started, start = time(), monotonic()
        if batch:
            self._leave(batch - 1)
        offsets = batch_offsets(self._checkpoint, batch)
        known = self._ledger.batch(batch)
        if known is not None:
            self._check_repetition(known, offsets)
            return
        warnings = self._check_files(events, batch)
        version = self._serving.bind(self._ledger, batch)
        frame, visit = self._settings.plan(self._source.planned(events), version)
        delivery = Delivery(
            visit=visit,
            form=self._settings.form,
            output=self._ledger.store,
            batch=batch,
            version=version,
        )
        reports = frame.mapInArrow(delivery, REPORT).collect()
        files: dict[str, list[DataFile]] = {MATCHES: [], DEAD_LETTERS: []}
        seen = 0
        for table, name, rows, size in reports:
            if table == EVENTS:
                seen += rows
            else:
                files[table].append(DataFile(name, rows, size))
        published = self._ledger.publish(
            Batch(
                batch=batch,
                version=version,
                events=seen,
                started=started,
                seconds=monotonic() - start,
                matches=tuple(files[MATCHES]),
                dead_letters=tuple(files[DEAD_LETTERS]),
                warnings=(*self._serving.warnings(), *warnings),
                offsets=offsets,
            )
        )
        self._check_repetition(published, offsets)
        self.published.append(published)

    def _check_files(self, events: DataFrame, batch: int) -> tuple[str, ...]:
        is_first, self._is_first = self._is_first, False
        files = files_of(self._checkpoint, batch)
        replaced = check_files(events.sparkSession, files, batch, is_first=is_first)
        return replaced if self._source.reader == "workers" else (*replaced, *doubling(files))

    def _leave(self, batch: int) -> None:
        """Clean up the batch before, which Spark takes for done: so it must be published."""
        if self._ledger.batch(batch) is None:
            raise StreamError(
                f"the checkpoint has done batch {batch}, and the output {self._ledger.store} lacks "
                "it: it belongs to another output, or the batch was deleted there. Go on with the "
                f"output as it was, {BEGIN_ANEW}"
            )
        self._ledger.clean(batch)

    def _check_repetition(self, published: Batch, offsets: str) -> None:
        """Raise StreamError if these are other events than those published under the id."""
        if published.offsets not in (None, offsets):
            raise StreamError(
                f"batch {published.batch} is published in {self._ledger.store} with other events "
                f"than the checkpoint {self._checkpoint} has for it: the checkpoint is older than "
                "the output, or parts of it were deleted. Put the checkpoint back as it was when "
                f"the stream ended, {BEGIN_ANEW}"
            )

    def explain(self, error: SparkError) -> NoReturn:
        """Raise the error of Boolcast that is behind one of Spark's, if there is any."""
        if self.failure is None:
            self.failure = cause_of(error)
        if self.failure is None:
            raise error
        raise self.failure from None
