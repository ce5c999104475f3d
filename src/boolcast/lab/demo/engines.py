"""The last stop of `boolcast demo`: the match engines side by side, on many subscriptions."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Final

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from boolcast.filters.expressions import Filter
from boolcast.filters.parsing import parse
from boolcast.matching.counting.engine import CountingMatcher
from boolcast.matching.inputs.protocol import Engine
from boolcast.matching.matcher import Matcher
from boolcast.matching.scan import ScanMatcher
from boolcast.workloads import PRESETS, Auction

_EVENTS: Final = {"access": 10_000, "counting": 200, "scan": 2}
"""How many events each engine gets: about as many as it handles in a second."""


STEPS: Final = 1 + 2 * len(_EVENTS)
"""How often `run_engines` says what it does: loading and matching for each, and parsing once."""


class EngineFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What one engine did."""

    engine: str
    events: int
    matches: int
    load_seconds: float
    seconds: float

    @property
    def events_per_second(self) -> float:
        return self.events / self.seconds


@contextmanager
def _without_collector() -> Iterator[None]:
    """Millions of nodes, none of them garbage: to look through them again and again takes 10 s."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@_without_collector()
def run_engines(subscriptions: int, seed: int, say: Callable[[str], None]) -> list[EngineFigures]:
    """Load all engines with the same subscriptions, and time each on events of its own number."""
    parameters = msgspec.structs.replace(PRESETS["auction"], titles=subscriptions)
    auction = Auction(parameters, seed=seed)
    table = auction.subscriptions(0, subscriptions)
    say(f"loading {subscriptions:,} subscriptions into the access engine")
    start = perf_counter()
    access = Matcher()
    access.add_many(table)
    loads = {"access": perf_counter() - start}
    say(f"parsing {subscriptions:,} filters for the others")
    start = perf_counter()
    filters: dict[str, Filter] = {
        name: parse(text)
        for name, text in zip(
            table["subscription"].to_pylist(), table["filter"].to_pylist(), strict=True
        )
    }
    parsing = perf_counter() - start
    others: dict[str, Engine] = {"counting": CountingMatcher(), "scan": ScanMatcher()}
    for name, engine in others.items():
        say(f"loading {subscriptions:,} subscriptions into the {name} engine")
        start = perf_counter()
        for subscription, filter in filters.items():
            engine.add(subscription, filter)
        engine.match(auction.event(0))
        loads[name] = parsing + perf_counter() - start
    figures: list[EngineFigures] = []
    engines: dict[str, Engine] = {"access": access, **others}
    for name, engine in engines.items():
        events = auction.events(0, _EVENTS[name])
        # Once before the clock runs: compiling, and caches.
        engine.match_batch(events.slice(0, 1)).read_all()
        say(f"matching {_EVENTS[name]:,} events with the {name} engine")
        start = perf_counter()
        matches = sum(batch.num_rows for batch in engine.match_batch(events))
        figures.append(
            EngineFigures(
                engine=name,
                events=_EVENTS[name],
                matches=matches,
                load_seconds=loads[name],
                seconds=perf_counter() - start,
            )
        )
    return figures


def show_engines(console: Console, subscriptions: int, seed: int) -> None:
    """Run the engines, with a line that tells what is going on, and show a table."""
    console.print()
    title = f"The engines side by side: {subscriptions:,} subscriptions"
    console.print(Text(title, style="bold green"))
    with console.status("…") as status:
        figures = run_engines(subscriptions, seed, status.update)
    table = Table("engine")
    for heading in ("load", "events", "matches", "events/s", "µs an event"):
        table.add_column(heading, justify="right")
    for each in figures:
        table.add_row(
            each.engine,
            f"{each.load_seconds:.1f} s",
            f"{each.events:,}",
            f"{each.matches:,}",
            f"{each.events_per_second:,.0f}",
            f"{1e6 / each.events_per_second:,.1f}",
        )
    console.print(table, soft_wrap=False)
    console.print("  `boolcast bench match` measures them with more care, and on other workloads.")
