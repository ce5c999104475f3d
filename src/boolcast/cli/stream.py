"""`boolcast stream`: match a stream that a configuration file describes."""

from typing import Annotated

import typer

from boolcast.cli.input.options import AsJson
from boolcast.cli.input.stream_configuration import read_configuration
from boolcast.cli.output.extras import needing_spark


def stream(
    configuration: Annotated[
        str, typer.Argument(metavar="FILE", help="Configuration: TOML, or JSON if named .json.")
    ],
    once: Annotated[
        bool, typer.Option("--once", help="Match the events that are there now, then end.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Match a stream of events on Spark, exactly once.

    Each batch uses the newest version of the index (see `boolcast index`). Malformed events go
    to a dead-letter table, with the reason. Read the results with read_matches and
    read_dead_letters of boolcast.pipeline.

    A terminal shows one line with the rate and the backlog; elsewhere each batch is a line, or
    with --json an object. Ctrl-C or SIGTERM finishes the current batch and stops. The same
    command resumes there, also after a crash.

    \b
    Examples:
      boolcast stream alerts.toml
      boolcast stream alerts.toml --once --json | jq .events_per_second

    \b
    A configuration, alerts.toml:
      index = "index/"              # a folder, or the URL of an object store
      output = "matches/"           # the results
      checkpoint = "checkpoint/"    # the progress of the stream
      event_id = "id"               # the column that names an event
      # json = "value"              # the column that holds the event as JSON
      # schema = "schema.json"      # for events in JSON: which strings are timestamps
      # form = "lists"              # one row per event instead of one per match
      trigger_seconds = 1.0         # the shortest time between two batches
      # memory = 2147483648         # bytes of the index that a worker opens at once
      [source]
      format = "json"               # whatever Spark can stream: parquet, kafka, ...
      path = "events/"
      schema = "id string, title string, price double"
      # reader = "spark"            # let Spark read parquet, not the workers: see the guide
      # select = ["cast(value as string) as value", "concat(partition, '-', offset) as id"]
      [source.options]              # options of the format
      maxFilesPerTrigger = 100
      # [source.fsspec]             # how workers reach remote Parquet files
      [spark]
      master = "local[*,4]"         # all cores, 4 tries per task; or spark://host:7077
      [spark.settings]
      "spark.driver.memory" = "2g"

    \b
    Exit codes:
      0  stopped, or with --once all events are matched
      2  the configuration is wrong, or the stream cannot go on
    """  # noqa: D301 - \b keeps the lines of a paragraph apart
    known = read_configuration(configuration)
    with needing_spark():
        from boolcast.cli import stream_run  # noqa: PLC0415 - Spark takes seconds to import

    stream_run.run(known, file=configuration, once=once, as_json=as_json)
