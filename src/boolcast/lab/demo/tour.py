"""The stops of `boolcast demo`; `show` walks through them."""

from time import perf_counter
from typing import Final

import msgspec
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

from boolcast.algebra.relations import covers, overlaps
from boolcast.algebra.simplification import lint, simplify
from boolcast.cli.output.faults import text_of
from boolcast.cli.output.progress import steps
from boolcast.cli.output.writing import counted, end_quietly, write_json
from boolcast.errors import FilterError
from boolcast.filters.evaluation import explain
from boolcast.filters.parsing import parse
from boolcast.lab.demo.engines import STEPS, EngineFigures, run_engines, show_engines
from boolcast.model.events import Event
from boolcast.model.identifiers import SubscriptionId
from boolcast.workloads import Auction, AuctionParameters

_FILTER: Final = (
    "title = 'Dune' and ending < 24 "
    "and (condition = 'new' and price < 25 or condition = 'used' and price < 15)"
)
_MISTAKES: Final = ("price < 25 && condition = 'new'", "title = 'Dune", "price betwen 5 and 10")
_EVENT: Final = {"title": "Dune", "condition": "used", "price": 21.0, "ending": 5}
_WORDY: Final = "price < 25 and (price < 30 or signed = true) and bids is not null and bids <= 3"
# Few titles, authors and categories, so that a small auction has many matches.
_AUCTION: Final = AuctionParameters(titles=60, authors=60, categories=12, zipf_exponent=0.8)
_SHOWN_LENGTH: Final = 76


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """What the auction took, measured, and what the engines did, if they were run."""

    seed: int
    events: int
    subscriptions: int
    predicates: int
    matches: int
    events_matched: int
    parse_seconds: float
    match_seconds: float
    engines: tuple[EngineFigures, ...] = ()

    @property
    def evaluations_per_second(self) -> float:
        """How many filters were evaluated in a second."""
        return self.events * self.subscriptions / self.match_seconds


class Outcome(msgspec.Struct, frozen=True):
    """The figures and, for each class of filters, its subscriptions, matches and an example."""

    figures: Figures
    classes: dict[str, tuple[int, int, str]]


class _Console(Console):
    """In colours on a terminal, in plain text elsewhere; ends like all output with its reader."""

    def on_broken_pipe(self) -> None:
        end_quietly()


def show(events: int, subscriptions: int, seed: int, engines: int) -> None:
    """Walk through all stops."""
    console = _Console(highlight=False, soft_wrap=True)
    _show_filter(console)
    _show_mistakes(console)
    _show_explanation(console)
    _show_proofs(console)
    _show_simplification(console)
    _show_auction(
        console, run_auction(events, subscriptions, seed, show_progress=console.is_terminal)
    )
    if engines:
        show_engines(console, engines, seed)


def write_figures(events: int, subscriptions: int, seed: int, engines: int) -> None:
    """Run what has figures, without the other stops, and write them as one line of JSON."""
    with steps(1 + (STEPS if engines else 0)) as begin:
        begin(f"matching {counted(events, 'event')} by plain scan")
        figures = run_auction(events, subscriptions, seed).figures
        if engines:
            measured = run_engines(engines, seed, begin)
            figures = msgspec.structs.replace(figures, engines=tuple(measured))
    write_json(figures)


def run_auction(
    events: int, subscriptions: int, seed: int, *, show_progress: bool = False
) -> Outcome:
    """Match the events of a book auction against its subscriptions, and measure it."""
    auction = Auction(_AUCTION, seed=seed)
    rows = auction.subscriptions(0, subscriptions).to_pylist()
    start = perf_counter()
    filters = {SubscriptionId(row["subscription"]): parse(row["filter"]) for row in rows}
    parse_seconds = perf_counter() - start

    matches = dict.fromkeys(filters, 0)
    events_matched = 0
    drawn = [Event(members) for members in auction.events(0, events).to_pylist()]
    start = perf_counter()
    for event in track(drawn, "matching", disable=not show_progress, transient=True):
        found = [name for name, filter in filters.items() if filter.accepts(event)]
        events_matched += bool(found)
        for name in found:
            matches[name] += 1
    match_seconds = perf_counter() - start

    classes: dict[str, tuple[int, int, str]] = {}
    for row in rows:
        count, matched, example = classes.get(row["class"], (0, 0, row["filter"]))
        classes[row["class"]] = (count + 1, matched + matches[row["subscription"]], example)
    figures = Figures(
        seed=seed,
        events=events,
        subscriptions=subscriptions,
        predicates=sum(1 for filter in filters.values() for _ in filter.predicates()),
        matches=sum(matches.values()),
        events_matched=events_matched,
        parse_seconds=parse_seconds,
        match_seconds=match_seconds,
    )
    return Outcome(figures, dict(sorted(classes.items())))


def _show_filter(console: Console) -> None:
    _begin(console, "A filter is any Boolean expression, written like SQL's WHERE")
    _show_code(console, str(parse(_FILTER)))


def _show_mistakes(console: Console) -> None:
    _begin(console, "A mistake is shown where it is")
    for text in _MISTAKES:
        try:
            parse(text)
        except FilterError as error:
            problem, *place = text_of(error).split("\n")
            console.print(Text(f"  {problem}", style="red"))
            console.print(Text("\n".join(f"  {line}" for line in place)))


def _show_explanation(console: Console) -> None:
    _begin(console, "Why does the filter refuse this event?")
    _show_code(console, _as_text(_EVENT))
    explanation = explain(parse(_FILTER), _EVENT)
    for line in str(explanation).splitlines():
        console.print(Text(f"  {line}", style="bold" if "decides" in line else ""))


def _show_proofs(console: Console) -> None:
    _begin(console, "What can be proven: does one filter accept all that another accepts?")
    specific = parse(_FILTER)
    for text in ("price < 25 and ending <= 24", "title like 'Du%' and price < 20"):
        verdict = covers(parse(text), specific)
        console.print(
            Text.assemble("  ", (text, "cyan"), f" covers it: {_yes_or_no(verdict.holds)}")
        )
        if verdict.witness is not None:
            console.print(
                f"    only the filter above accepts {_as_text(verdict.witness)}", markup=False
            )
    other = "contains(title, 'une') and price >= 20"
    both = overlaps(parse(other), specific)
    console.print(Text.assemble("  ", (other, "cyan"), f" overlaps it: {_yes_or_no(both.holds)}"))
    if both.witness is not None:
        console.print(f"    both accept {_as_text(both.witness)}", markup=False)


def _show_simplification(console: Console) -> None:
    _begin(console, "What is superfluous is found, and can be left out")
    filter = parse(_WORDY)
    _show_code(console, str(filter))
    for finding in lint(filter).findings:
        console.print(Text(f"  {finding.code}: {finding.message}"))
    console.print(Text.assemble("  simplified: ", (str(simplify(filter)), "cyan")))


def _show_auction(console: Console, outcome: Outcome) -> None:
    figures = outcome.figures
    _begin(
        console,
        f"A book auction: {counted(figures.events, 'event')}, "
        f"{counted(figures.subscriptions, 'subscription')}",
    )
    table = Table("class")
    table.add_column("subscriptions", justify="right")
    table.add_column("matches", justify="right")
    table.add_column("for example")
    for name, (count, matched, example) in outcome.classes.items():
        shown = example if len(example) <= _SHOWN_LENGTH else f"{example[:_SHOWN_LENGTH]}…"
        table.add_row(name, f"{count:,}", f"{matched:,}", Text(shown, style="cyan"))
    console.print(table, soft_wrap=False)
    rate = figures.evaluations_per_second
    console.print(
        f"  read {figures.predicates:,} predicates in {figures.parse_seconds * 1e3:.0f} ms "
        f"({figures.subscriptions / figures.parse_seconds:,.0f} filters a second)\n"
        f"  {counted(figures.matches, 'match', 'matches')} for {figures.events_matched:,} "
        f"of the events in {figures.match_seconds:.2f} s "
        f"({rate:,.0f} evaluations a second, by plain scan)"
    )


def _begin(console: Console, title: str) -> None:
    console.print()
    console.print(Text(title, style="bold green"))


def _show_code(console: Console, text: str) -> None:
    console.print(Text(f"  {text}", style="cyan"))


def _as_text(event: object) -> str:
    return msgspec.json.encode(event).decode()


def _yes_or_no(holds: bool) -> str:
    return "yes" if holds else "no"
