"""`boolcast index`: make an index, change it, look at its versions, clear away old ones."""

from typing import TYPE_CHECKING, Annotated

import typer

from boolcast.cli.input.options import AsJson
from boolcast.cli.output.exit_codes import ExitCode
from boolcast.errors import UsageError

if TYPE_CHECKING:
    from types import ModuleType

index = typer.Typer(
    name="index", no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False
)

Place = Annotated[str, typer.Argument(metavar="INDEX", help="A folder, or s3://bucket/prefix.")]
Order = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Of several rows of a subscription, the one with its greatest value counts.",
    ),
]
Master = Annotated[
    str | None, typer.Option(metavar="URL", help="Where Spark runs.", show_default="here")
]


@index.callback()
def indexes() -> None:
    """Make and change an index of subscriptions, on Spark.

    An index has versions, each whole and never changed; streams and jobs take up the newest.

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
    place: Place,
    subscriptions: Annotated[str, typer.Argument(metavar="FILE", help="Subscriptions.")],
    order: Order = None,
    master: Master = None,
    as_json: AsJson = False,
) -> None:
    """Publish a version that holds exactly the given subscriptions.

    FILE is a file or a folder of files: Parquet with the columns `subscription` and `filter`, or
    JSON lines as for `boolcast match`, which may be gzipped:

    \b
      {"subscription": "alert-1", "filter": "item.price < 25"}

    Rows that cannot be taken are reported on standard error with their reasons. Of rows of the
    same subscription with different filters none is taken, unless --order is given.

    \b
    Examples:
      boolcast index build index/ alerts.jsonl
      boolcast index build s3://bucket/alerts alerts.parquet --order updated_at --json
    """  # noqa: D301 - \b keeps the lines of a paragraph apart
    run = _commands()
    rejected = run.build(place, subscriptions, order=order, master=master, as_json=as_json)
    raise typer.Exit(ExitCode.RESERVATIONS if rejected else ExitCode.FINE)


@index.command()
def apply(
    place: Place,
    changes: Annotated[str, typer.Argument(metavar="FILE", help="Changes.")],
    order: Order = None,
    master: Master = None,
    as_json: AsJson = False,
) -> None:
    """Publish a version with changes to the newest one.

    Only what changed is built. FILE is as in `boolcast index build`, with a column `operation`
    more, `upsert` or `delete`; without it a filter that is null deletes:

    \b
      {"subscription": "alert-1", "filter": "item.price < 20"}
      {"subscription": "alert-2", "filter": null}

    \b
    Examples:
      boolcast index apply index/ changes.jsonl
    """  # noqa: D301 - \b keeps the lines of a paragraph apart
    run = _commands()
    rejected = run.apply(place, changes, order=order, master=master, as_json=as_json)
    raise typer.Exit(ExitCode.RESERVATIONS if rejected else ExitCode.FINE)


@index.command(name="list")
def list_versions(place: Place, as_json: AsJson = False) -> None:
    """List the versions of an index, and their sizes.

    \b
    Examples:
      boolcast index list index/
    """  # noqa: D301 - \b keeps the lines of a paragraph apart
    _commands().list_versions(place, as_json=as_json)


@index.command()
def collect(
    place: Place,
    keep: Annotated[int, typer.Option(metavar="N", min=1, help="How many versions to keep.")] = 3,
    streams: Annotated[
        list[str] | None,
        typer.Option(
            "--stream",
            metavar="OUTPUT",
            help="Keep also what the stream with this output may need; may be repeated.",
        ),
    ] = None,
) -> None:
    """Delete all versions but the newest, and what only they needed.

    A batch of a stream that did not come to its end is repeated with the version that it began
    with: name the outputs of all streams over the index.

    \b
    Examples:
      boolcast index collect index/ --keep 3 --stream matches/
    """  # noqa: D301 - \b keeps the lines of a paragraph apart
    _commands().collect_versions(place, keep, streams or [])


def _commands() -> "ModuleType":
    try:
        from boolcast.cli import index_run  # noqa: PLC0415 - Spark takes seconds to import
    except ModuleNotFoundError as error:
        if error.name != "pyspark":
            raise
        raise UsageError("an index needs Spark: pip install 'boolcast[spark]'") from None
    return index_run
