"""The product's commands under one name, ended alike by Ctrl-C."""

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from boolcast.cli.backtest import backtest
from boolcast.cli.check import check
from boolcast.cli.explain import explain
from boolcast.cli.index import index
from boolcast.cli.match import match
from boolcast.cli.output.endings import ExitCode
from boolcast.cli.output.writing import write, write_error
from boolcast.cli.simulate import simulate
from boolcast.cli.stream import stream


class InterruptibleGroup(TyperGroup):
    """Ends every command the same way on Ctrl-C: one line, exit code 130, no traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            write_error("interrupted")
            raise typer.Exit(ExitCode.INTERRUPTED) from None


application = typer.Typer(
    cls=InterruptibleGroup,
    no_args_is_help=True,
    # Plain help and errors: rich would take longer to import than all the rest.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415 - 20 ms for one option

        write(f"boolcast {version('boolcast')}")
        raise typer.Exit


@application.callback()
def boolcast(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Deliver every event to exactly the subscribers whose Boolean filter accepts it.

    A filter reads like SQL's WHERE:

    \b
      title = 'Dune' and ending < 24 and (condition = 'new' and price < 25 or price < 15)

    \b
    Operators:
      = != <> < <= > >=           a value, or another attribute: bid > reserve
      [not] between 5 and 10      [not] in ('new', 'used')     is [not] null
      [not] like 'Harry%'         % any characters, _ one
      starts_with(title, 'Har')   ends_with   contains   matches(title, 'regex')
      and or not ( )              true false
      'it''s'  timestamp '2026-01-31T12:00:00Z'  "attribute with spaces"  item.price

    \b
    Examples:
      boolcast check "price < 25 and condition = 'new'"
      boolcast explain "price < 25" '{"price": 30}'
      boolcast match --subscriptions alerts.jsonl --events books.jsonl
      boolcast index build index/ alerts.jsonl
      boolcast stream alerts.toml
      boolcast backtest --subscriptions alerts.jsonl --events history.parquet
      boolcast simulate --seeds 1..1000
      boolcast demo
      boolcast demo spark
      boolcast bench match
      boolcast reproduce unsubscription

    \b
    Exit codes of all commands:
      0    fine
      1    no, or not everything went well: findings, a refused event, bad lines
      2    the input or the usage is wrong
      130  interrupted by Ctrl-C; `stream` finishes its batch instead and exits with 0
    """  # noqa: D301 - \b keeps the lines of a paragraph apart


for command in (check, explain, match, stream, backtest, simulate):
    application.command()(command)
application.add_typer(index)
