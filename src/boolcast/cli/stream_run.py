"""The work of `boolcast stream`; apart from the command because Spark takes seconds to import."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from time import monotonic, time
from types import FrameType

import msgspec
from pyspark.sql import DataFrame, SparkSession

from boolcast.cli.input.options import read_schema
from boolcast.cli.input.spark import spark_session
from boolcast.cli.input.stream_configuration import Configuration, as_text
from boolcast.cli.output.writing import write_error
from boolcast.cli.stream_progress import BatchReport, Display, Lines, Terminal
from boolcast.errors import FileError, StreamError
from boolcast.model.schemas import Schema
from boolcast.pipeline import MatchStream, ParquetStream, match_stream, parquet_stream
from boolcast.pipeline.events.parquet_streaming import ALL_BELOW
from boolcast.pipeline.matching.matches import MEMORY
from boolcast.pipeline.spark.error_causes import SPARK_ERRORS, first_line
from boolcast.pipeline.spark.stores import open_store
from boolcast.pipeline.streaming.backlog import Backlog, Waiting

_LOOK_SECONDS = 0.2
_LOOK_SHARE = 20


def run(configuration: Configuration, *, file: str, once: bool, as_json: bool) -> None:
    """Match until the events end or a signal arrives. Raises BoolcastError."""
    schema = read_schema(configuration.schema)
    display: Display = Terminal() if sys.stderr.isatty() and not as_json else Lines(as_json)
    settings = {name: as_text(each) for name, each in configuration.spark.settings.items()}
    with display:
        display.tell("starting Spark")
        with spark_session(configuration.spark.master, "boolcast stream", settings) as spark:
            try:
                with _signals() as stopping:
                    stream = _started(spark, configuration, schema, file, once)
                    display.tell("waiting for events")
                    _follow(stream, stopping, display, _Watch(_backlog(configuration)))
            except SPARK_ERRORS as error:
                raise StreamError(f"Spark ended the stream: {first_line(error)}") from error
    if not as_json:
        write_error(display.summary())


def _started(
    spark: SparkSession,
    configuration: Configuration,
    schema: Schema | None,
    file: str,
    once: bool,
) -> MatchStream:
    return match_stream(
        _source(spark, configuration, file),
        configuration.index,
        event_id=configuration.event_id,
        output=configuration.output,
        checkpoint=configuration.checkpoint,
        json=configuration.json,
        trigger=None if once else configuration.trigger_seconds,
        form=configuration.form,
        schema=schema,
        memory=MEMORY if configuration.memory is None else configuration.memory,
    )


def _source(
    spark: SparkSession, configuration: Configuration, file: str
) -> DataFrame | ParquetStream:
    source = configuration.source
    options = {name: as_text(each) for name, each in source.options.items()}
    try:
        if source.is_read_by_workers:
            assert source.path is not None
            return parquet_stream(
                spark,
                source.path,
                schema=source.schema,
                options=source.fsspec,
                spark_options=options,
            )
        reader = spark.readStream.format(source.format).options(**options)
        if source.schema is not None:
            reader = reader.schema(source.schema)
        events = reader.load(source.path)
        return events.selectExpr(*source.select) if source.select else events
    except SPARK_ERRORS as error:
        raise FileError(f"source: {first_line(error)}", path=file) from error


class _Watch:
    """Looks for waiting files, at most a twentieth of the time."""

    def __init__(self, backlog: Backlog | None) -> None:
        self._backlog = backlog
        self._waiting: Waiting | None = None
        self._next = 0.0

    def look(self) -> Waiting | None:
        """The backlog now or a moment ago; None if unknown."""
        start = monotonic()
        if self._backlog is not None and start >= self._next:
            try:
                self._waiting = self._backlog.waiting(time())
            except Exception:  # noqa: BLE001 - each protocol has its own errors, and a display must not end a stream
                self._waiting = None
            self._next = start + _LOOK_SHARE * (monotonic() - start)
        return self._waiting


def _backlog(configuration: Configuration) -> Backlog | None:
    source = configuration.source
    if not source.is_of_files:
        return None
    assert source.path is not None
    options = {name: as_text(each) for name, each in source.options.items()}
    if source.is_read_by_workers:
        options = {**ALL_BELOW, **options}
    return Backlog(open_store(configuration.checkpoint), source.path, options, source.fsspec)


def _follow(stream: MatchStream, stopping: Event, display: Display, watch: _Watch) -> None:
    """Show batches until the stream ends, or stop it on request."""
    has_ended = False
    while not has_ended:
        if stopping.is_set():
            display.tell("finishing the batch")
            stream.stop()
            has_ended = True
        else:
            has_ended = stream.wait(_LOOK_SECONDS)
        waiting = watch.look()
        for batch in stream.published():
            display.show(BatchReport.of(batch, behind=_behind(stream), waiting=waiting))
        if waiting is not None:
            display.wait(waiting)


def _behind(stream: MatchStream) -> dict[str, str]:
    """How far the stream is behind its source, if the source knows (Kafka does)."""
    progress = stream.query.lastProgress
    if progress is None:
        return {}
    told = msgspec.json.decode(progress.json)["sources"]
    return {
        name: value
        for source in told
        for name, value in source.get("metrics", {}).items()
        if "ehind" in name or "utstanding" in name
    }


@contextmanager
def _signals() -> Iterator[Event]:
    """An event that the first Ctrl-C or SIGTERM sets; the second ends the process."""
    stopping = Event()
    handlers = {}

    def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - as signals have it
        stopping.set()
        signal.signal(number, signal.SIG_DFL)

    for number in (signal.SIGINT, signal.SIGTERM):
        handlers[number] = signal.signal(number, stop)
    try:
        yield stopping
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
