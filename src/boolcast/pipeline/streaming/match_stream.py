"""Match a stream: each batch with one version of the index, each result exactly once.

Spark divides the stream into batches and repeats a batch that did not finish. The ledger makes
the repetition harmless, `version_pinning` chooses the version, `delivery` is the work of the
tasks; this module drives them. All of it is as durable as the checkpoint. Spark does not sync that
to disk: it survives the death of any process, but on a local disk not a loss of power.
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
from boolcast.matching.store.store import Location, Store
from boolcast.model.schemas import Schema
from boolcast.pipeline.matching.match_task import Form
from boolcast.pipeline.matching.matches import MEMORY
from boolcast.pipeline.spark.error_causes import SPARK_ERRORS, SparkError, cause_of
from boolcast.pipeline.spark.stores import open_store
from boolcast.pipeline.streaming.checkpoint_files import check_files, files_of, wildcard_warnings
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
    START_OVER,
    Settings,
    StreamEvents,
    StreamSource,
    check_columns,
    source_of,
    take_ownership,
)
from boolcast.pipeline.streaming.version_pinning import VersionPinning

_LONGEST_TRIGGER: Final = 1e9


def match_stream(  # noqa: PLR0913 - by keyword, and each is a choice of the user's
    events: StreamEvents,
    store: Location,
    *,
    event_id: str,
    output: Location,
    checkpoint: str | os.PathLike[str],
    json: str | None = None,
    trigger: float | None = 1.0,
    form: Form = "rows",
    schema: Schema | None = None,
    memory: int = MEMORY,
) -> "MatchStream":
    """Match a stream of events, batch by batch, each with the newest version of the index.

    `events` is a streaming DataFrame, or the files of `parquet_stream`. `event_id`, `json`,
    `schema`, `form` and `memory` are as for `match`, and so are the results, with two more
    columns: `version` and `batch`. They go to `output`, exactly once: read them with
    `read_matches` and `read_dead_letters`. Events that are malformed or have no id are dead
    letters. `checkpoint` is Spark's: with the same checkpoint, output, index and columns, a stream
    that was stopped or killed continues where it was. `trigger` is the minimum number of seconds
    between batches; None matches what is there now and ends.

    Raises UsageError, StoreError if there is no index yet, StreamError if the checkpoint and the
    output belong to another stream, and OutputError if they cannot be written.
    """
    # This also refuses NaN, and what Spark cannot count in microseconds.
    if trigger is not None and not 0 <= trigger <= _LONGEST_TRIGGER:
        raise UsageError(f"the trigger must be None or a number of seconds, not {trigger}")
    settings = Settings(
        store=open_store(store),
        event_id=event_id,
        json=json,
        schema=schema,
        form=form,
        memory=memory,
    )
    versions = VersionPinning(settings.store)
    ledger = Ledger(open_store(output))
    source = source_of(events, event_id, ledger)
    check_columns(source, settings, versions.newest())
    kept = open_store(checkpoint)
    is_new = take_ownership(ledger, source, settings, kept)
    job = _Job(settings, source, versions, ledger, kept)
    writer = source.frame.writeStream.foreachBatch(job.run).option("checkpointLocation", str(kept))
    if trigger is None:
        writer = writer.trigger(availableNow=True)
    else:
        writer = writer.trigger(processingTime=f"{int(trigger * 1000)} milliseconds")
    try:
        return MatchStream(writer.start(), job)
    except SPARK_ERRORS as error:
        # Nothing has begun, so the settings may still change.
        if is_new:
            ledger.release()
        job.explain(error)


class MatchStream:
    """A running stream; `query` is Spark's handle."""

    def __init__(self, query: StreamingQuery, job: "_Job") -> None:
        self.query = query
        self._job = job

    @property
    def is_active(self) -> bool:
        """False once the stream has ended, for any reason."""
        return self.query.isActive

    def published(self) -> list[Batch]:
        """The batches published since the last call, in order."""
        return [self._job.published.popleft() for _ in range(len(self._job.published))]

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the stream ends, or for some seconds; True if it has ended.

        Raises the error that ended it, if any.
        """
        try:
            if seconds is None:
                self.query.awaitTermination()
                return True
            # Spark also takes fractions of a second, despite its annotation.
            return bool(self.query.awaitTermination(cast("int", seconds)))
        except StreamingQueryException as error:
            if self._job.stopping.is_set() and self._job.failure is None:
                return True
            self._job.explain(error)

    def stop(self, patience: float = 600.0) -> None:
        """Finish the current batch, waiting up to `patience` seconds for it, and stop."""
        self._job.stopping.set()
        deadline = monotonic() + patience
        while self._job.is_working and monotonic() < deadline:
            sleep(0.02)
        self.query.stop()
        self.wait()


class _Stopping(Exception):  # noqa: N818 - no error
    """Keeps Spark from beginning another batch."""


class _Job:
    """Spark calls `run` for every batch, one at a time."""

    def __init__(
        self,
        settings: Settings,
        source: StreamSource,
        versions: VersionPinning,
        ledger: Ledger,
        checkpoint: Store,
    ) -> None:
        self.published: deque[Batch] = deque()
        self.stopping = Event()
        self.is_working = False
        self.failure: BoolcastError | None = None
        self._settings = settings
        self._source = source
        self._versions = versions
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
                # Spark searches the error for its own interruption, with a pattern that overflows
                # Java's stack on a long text; and nobody wants to read a thousand lines.
                raise _Stopping from None
            self.explain(error)
        finally:
            self.is_working = False

    def _run(self, events: DataFrame, batch: int) -> None:
        started, start = time(), monotonic()
        if batch:
            self._finish(batch - 1)
        offsets = batch_offsets(self._checkpoint, batch)
        known = self._ledger.batch(batch)
        if known is not None:
            self._check_repetition(known, offsets)
            return
        warnings = self._check_files(events, batch)
        version = self._versions.pin(self._ledger, batch)
        plan = self._settings.plan(self._source.of_batch(events), version)
        delivery = Delivery(
            task=plan.task,
            files=plan.files,
            form=self._settings.form,
            output=self._ledger.store,
            batch=batch,
            version=version,
        )
        reports = plan.frame.mapInArrow(delivery, REPORT).collect()
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
                warnings=(*self._versions.warnings(), *warnings),
                offsets=offsets,
            )
        )
        self._check_repetition(published, offsets)
        self.published.append(published)

    def _check_files(self, events: DataFrame, batch: int) -> tuple[str, ...]:
        is_first, self._is_first = self._is_first, False
        files = files_of(self._checkpoint, batch)
        replaced = check_files(events.sparkSession, files, batch, is_first=is_first)
        if self._source.reader == "workers":
            return replaced
        return (*replaced, *wildcard_warnings(files))

    def _finish(self, batch: int) -> None:
        """Clean up after a batch that Spark says is done: so it must be published."""
        if self._ledger.batch(batch) is None:
            raise StreamError(
                f"the checkpoint has done batch {batch}, but the output {self._ledger.store} lacks "
                "it: the checkpoint belongs to another output, or the batch was deleted. Continue "
                f"with the output as it was, {START_OVER}"
            )
        self._ledger.clean(batch)

    def _check_repetition(self, published: Batch, offsets: str) -> None:
        """Raise StreamError if other events are published under the batch's id."""
        if published.offsets not in (None, offsets):
            raise StreamError(
                f"batch {published.batch} is published in {self._ledger.store} with other events "
                f"than the checkpoint {self._checkpoint} has for it: the checkpoint is older than "
                "the output, or some of it was deleted. Restore the checkpoint from when the "
                f"stream ended, {START_OVER}"
            )

    def explain(self, error: SparkError) -> NoReturn:
        """Raise the Boolcast error behind one of Spark's, if there is any."""
        if self.failure is None:
            self.failure = cause_of(error)
        if self.failure is None:
            raise error
        raise self.failure from None
