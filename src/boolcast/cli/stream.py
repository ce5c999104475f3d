"""`boolcast stream`: match a stream, as a configuration file describes it."""

from typing import Annotated

import typer

from boolcast.cli.input.options import AsJson
from boolcast.cli.input.stream_configuration import read_configuration
from boolcast.errors import UsageError


def stream(
    configuration: Annotated[
        str, typer.Argument(metavar="FILE", help="TOML, or JSON if it ends in .json.")
    ],
    once: Annotated[bool, typer.Option("--once", help="Match what is there now, and end.")] = False,
    as_json: AsJson = False,
) -> None:
    """Match a stream of events, on Spark, exactly once.

    The index may change meanwhile (see `boolcast index`): each batch is matched with the newest
    version at its start. Malformed events go to a table of dead letters, with their reasons. The
    results are Parquet files, and manifests that say which of them count: read them with
    read_matches and read_dead_letters of boolcast.pipeline.

    On a terminal one line shows how it goes, and which files wait; elsewhere there is a line for
    each batch, and with --json an object for each batch. Ctrl-C or SIGTERM lets the batch at work
    come to its end and stops; the same command goes on from there, and also after a crash.

    \b
    Examples:
      boolcast stream alerts.toml
      boolcast stream alerts.toml --once --json | jq .events_per_second

    \b
    A configuration, alerts.toml:
      index = "index/"              # a folder, or the URL of an object store
      output = "matches/"           # for the results
      checkpoint = "checkpoint/"    # how far the stream has come
      event_id = "id"               # the column that names an event
      # json = "value"              # the column with the event as JSON, if it is in one
      # schema = "schema.json"      # of events in JSON: which strings are timestamps
      # form = "lists"              # a row for each event, instead of one for each match
      trigger_seconds = 1.0         # at least so long from one batch to the next
      # memory = 2147483648         # bytes of the index that a worker opens at a time
      [source]
      format = "json"               # any that Spark can stream: parquet, kafka, rate, ...
      path = "events/"
      schema = "id string, title string, price double"
      # reader = "spark"            # for parquet, which workers read otherwise: see the guide
      # select = ["cast(value as string) as value", "concat(partition, '-', offset) as id"]
      [source.options]              # those of the format
      maxFilesPerTrigger = 100
      # [source.fsspec]             # how workers reach Parquet files that are not on a disk
      [spark]
      master = "local[*,4]"         # all cores, a task tried 4 times; or spark://host:7077
      [spark.settings]
      "spark.driver.memory" = "2g"

    \b
    Exit codes:
      0  stopped, or all is matched with --once
      2  the configuration is wrong, or the stream cannot go on
    """  # noqa: D301 - \b keeps the lines of a paragraph apart
    known = read_configuration(configuration)
    try:
        from boolcast.cli import stream_run  # noqa: PLC0415 - Spark takes seconds to import
    except ModuleNotFoundError as error:
        if error.name != "pyspark":
            raise
        raise UsageError("streams need Spark: pip install 'boolcast[spark]'") from None
    stream_run.run(known, file=configuration, once=once, as_json=as_json)
