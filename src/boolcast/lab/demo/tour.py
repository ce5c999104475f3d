"""`boolcast demo`: the engines side by side, then what filters can do."""

from typing import Final

import msgspec
from rich.console import Console
from rich.text import Text

from boolcast.algebra.relations import covers, overlaps
from boolcast.algebra.simplification import lint, simplify
from boolcast.cli.output.error_messages import text_of
from boolcast.cli.output.progress import steps
from boolcast.cli.output.tables import QuietConsole
from boolcast.cli.output.writing import write_json
from boolcast.errors import FilterError
from boolcast.filters.evaluation import explain
from boolcast.filters.parsing import parse
from boolcast.lab.demo.engines import STEPS, EngineFigures, measure_engines, show_engines
from boolcast.lab.demo.layout import print_heading, wrapped

_FILTER: Final = "title = 'Dune' and (condition = 'new' and price < 25 or price < 15)"
_MISTAKE: Final = "price < 25 && condition = 'new'"
_EVENT: Final = {"title": "Dune", "condition": "used", "price": 21}
_GENERAL: Final = "title like 'Du%' and price < 30"
_NARROW: Final = "title like 'Du%' and price < 20"
_WORDY: Final = "price < 25 and (price < 30 or bids > 9) and bids <= 3"


class TourFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What the tour measured."""

    seed: int
    subscriptions: int
    engines: tuple[EngineFigures, ...]


def show(subscriptions: int, seed: int) -> None:
    """Print the whole tour."""
    console = QuietConsole(highlight=False, soft_wrap=True)
    show_engines(console, subscriptions, seed)
    _show_explanation(console)
    _show_mistake(console)
    _show_proofs(console)
    _show_simplification(console)


def write_figures(subscriptions: int, seed: int) -> None:
    """Measure the engines, and write the figures as one line of JSON."""
    with steps(STEPS) as begin:
        engines = tuple(measure_engines(subscriptions, seed, begin))
    write_json(TourFigures(seed=seed, subscriptions=subscriptions, engines=engines))


def _show_explanation(console: Console) -> None:
    print_heading(console, "Why does this filter refuse this event?")
    _print_code(console, _FILTER)
    _print_code(console, _as_json(_EVENT))
    lines = str(explain(parse(_FILTER), _EVENT)).splitlines()
    indent = "  " if max(map(len, lines)) + 2 <= console.width else ""
    for line in lines:
        console.print(Text(indent + line, style="bold" if "decides" in line else ""))


def _show_mistake(console: Console) -> None:
    print_heading(console, "Errors point at the mistake")
    try:
        parse(_MISTAKE)
    except FilterError as error:
        console.print(Text("\n".join(f"  {line}" for line in text_of(error).splitlines())))


def _show_proofs(console: Console) -> None:
    print_heading(console, "Proofs, with a counterexample or an example")
    specific = parse(_FILTER)
    for text in (_GENERAL, _NARROW):
        verdict = covers(parse(text), specific)
        _print_proof(console, text, "covers", verdict.holds)
        if verdict.witness is not None:
            console.print(Text(f"    it refuses {_as_json(verdict.witness)}"))
    both = overlaps(parse(_NARROW), specific)
    _print_proof(console, _NARROW, "overlaps", both.holds)
    console.print(Text(f"    both accept {_as_json(both.witness)}"))


def _print_proof(console: Console, text: str, relation: str, holds: bool) -> None:
    answer = "yes" if holds else "no"
    verdict = f"{relation} the filter above: {answer}"
    fits = len(f"  {text} {verdict}") <= console.width
    console.print(Text.assemble("  ", (text, "cyan"), " " if fits else "\n    ", verdict))


def _show_simplification(console: Console) -> None:
    print_heading(console, "Redundant conditions are found and removed")
    filter = parse(_WORDY)
    _print_code(console, _WORDY)
    for finding in lint(filter).findings:
        console.print(Text(wrapped(console, f"{finding.code}: {finding.message}")))
    console.print(Text.assemble("  simplified: ", (str(simplify(filter)), "cyan")))


def _print_code(console: Console, text: str) -> None:
    console.print(Text(wrapped(console, text), style="cyan"))


def _as_json(event: object) -> str:
    return msgspec.json.encode(event).decode()
