"""`boolcast index`: build and change an index, list its versions, delete old ones."""

from typing import TYPE_CHECKING, Annotated

import typer

from boolcast.cli.input.options import AsJson
from boolcast.cli.output.endings import ExitCode
from boolcast.cli.output.extras import needing_spark

if TYPE_CHECKING:
    from types import ModuleType

index = typer.Typer(
    name="index", no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False
)

Location = Annotated[str, typer.Argument(metavar="INDEX", help="Folder, or s3://bucket/prefix.")]
Order = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column whose largest value wins, if a subscription has several rows.",
    ),
]
Master = Annotated[
    str | None, typer.Option(metavar="URL", help="Spark cluster.", show_default="here")
]


@index.callback()
def indexes() -> None:
    """Build and change an index of subscriptions, on Spark.

    Each change publishes a new immutable version. Streams and jobs use the newest.

    \b
    Examples:
      boolcast index build index/ alerts.jsonl
      boolcast index apply index/ changes.jsonl
      boolcast index list index/
      boolcast index collect index/ --keep 3 --stream matches/

    \b
    Exit codes:
      0  done
      1  done, but some rows were rejected
      2  the input or the usage is wrong
    """  # noqa: D301 - \b keeps the lines of a paragraph apart


@index.command()
def build(
    location: Location,
    subscriptions: Annotated[
        str, typer.Argument(metavar="FILE", help="Subscriptions: a file or folder.")
    ],
    order: Order = None,
    master: Master = None,
    as_json: AsJson = False,
) -> None:
    """Publish a version with exactly the given subscriptions.

    FILE is Parquet with the columns `subscription` and `filter`, or JSON lines as for
    `boolcast match` (gzip works):

    \b
      {"subscription": "alert-1", "filter": "item.price < 25"}

    Rejected rows are reported on standard error, with the reason. If rows give a subscription
    different filters, all of them are rejected, unless --order decides.

    \b
    Examples:
      boolcast index build index/ alerts.jsonl
      boolcast index build s3://bucket/alerts alerts.parquet --order updated_at --json
    """  # noqa: D301 - \b keeps the lines of a paragraph apart
    run = _commands()
    rejected = run.build(location, subscriptions, order=order, master=master, as_json=as_json)
    raise typer.Exit(ExitCode.RESERVATIONS if rejected else ExitCode.FINE)


@index.command()
def apply(
    location: Location,
    changes: Annotated[str, typer.Argument(metavar="FILE", help="Changes: a file or folder.")],
    order: Order = None,
    master: Master = None,
    as_json: AsJson = False,
) -> None:
    """Publish a version with changes to the newest one.

    Builds only what changed. FILE is as for `boolcast index build`, and may have a column
    `operation` with `upsert` or `delete`. Without it, a null filter deletes:

    \b
      {"subscription": "alert-1", "filter": "item.price < 20"}
      {"subscription": "alert-2", "filter": null}

    \b
    Examples:
      boolcast index apply index/ changes.jsonl
    """  # noqa: D301 - \b keeps the lines of a paragraph apart
    run = _commands()
    rejected = run.apply(location, changes, order=order, master=master, as_json=as_json)
    raise typer.Exit(ExitCode.RESERVATIONS if rejected else ExitCode.FINE)


@index.command(name="list")
def list_versions(location: Location, as_json: AsJson = False) -> None:
    """List the versions of an index with their sizes.

    \b
    Examples:
      boolcast index list index/
    """  # noqa: D301 - \b keeps the lines of a paragraph apart
    _commands().list_versions(location, as_json=as_json)


@index.command()
def collect(
    location: Location,
    keep: Annotated[int, typer.Option(metavar="N", min=1, help="Versions to keep.")] = 3,
    streams: Annotated[
        list[str] | None,
        typer.Option(
            "--stream",
            metavar="OUTPUT",
            help="Output of a stream whose versions to keep; may be repeated.",
        ),
    ] = None,
) -> None:
    """Delete all but the newest versions.

    A stream repeats an unfinished batch with the version it began with: name the outputs of
    all streams that use the index.

    \b
    Examples:
      boolcast index collect index/ --keep 3 --stream matches/
    """  # noqa: D301 - \b keeps the lines of a paragraph apart
    _commands().collect_versions(location, keep, streams or [])


def _commands() -> "ModuleType":
    with needing_spark():
        from boolcast.cli import index_run  # noqa: PLC0415 - Spark takes seconds to import

        return index_run
