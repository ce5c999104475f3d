"""The match engines side by side, on the same filters and events: the first part of the demo."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import process_time
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console
from rich.text import Text

from boolcast.lab.demo.layout import aligned, print_heading, running_bar, wrapped
from boolcast.matching.counting.engine import CountingMatcher
from boolcast.matching.inputs.protocol import Engine
from boolcast.matching.matcher import Matcher
from boolcast.matching.scan import ScanMatcher
from boolcast.workloads import PRESETS, Auction

EVENTS: Final = {"access": 50_000, "counting": 500, "scan": 5}
"""The events that each engine sees: no engine takes more than a few seconds for them."""

STEPS: Final = 2 + 2 * len(EVENTS)
"""How often `measure_engines` says what it does next."""

_LESSON_EVENTS: Final = 10_000
"""Events that the access engine sees first, to learn which predicates are selective."""

_HEADINGS: Final = ("engine", "load", "events", "matches", "per event", "events/s")
_WIDTHS: Final = (8, 9, 8, 11, 11, 11)

Pairs = set[tuple[int, str]]


class EngineFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What one engine did, in processor time; the load includes parsing and a first match."""

    engine: str
    events: int
    matches: int
    load_seconds: float
    seconds: float

    @property
    def events_per_second(self) -> float:
        return self.events / self.seconds


def measure_engines(
    subscriptions: int, seed: int, begin: Callable[[str], None]
) -> Iterator[EngineFigures]:
    """Load and time one engine after the other; `begin` gets the name of each step.

    All get the same filters. A slower engine sees fewer events: some of those that the faster
    ones saw, from the first with a match on. It must find the same matches there.
    """
    auction = Auction(msgspec.structs.replace(PRESETS["auction"], titles=subscriptions), seed=seed)
    begin("drawing events")
    events = auction.events(_LESSON_EVENTS, max(EVENTS.values()))
    expected: Pairs | None = None
    with _without_garbage_collector():
        for name, engine, load_seconds in _loaded(auction, subscriptions, begin):
            seen = events.slice(0, EVENTS[name])
            begin(f"{name}: matching {len(seen):,} events")
            start = process_time()
            matches = engine.match_batch(seen).read_all()
            seconds = process_time() - start
            if expected is None:
                first = pc.min(matches["event"]).as_py() or 0
                expected, events = _pairs(matches, first), events.slice(first)
            else:
                _check(name, _pairs(matches), expected, len(seen))
            yield EngineFigures(
                engine=name,
                events=len(seen),
                matches=len(matches),
                load_seconds=load_seconds,
                seconds=seconds,
            )


def _loaded(
    auction: Auction, subscriptions: int, begin: Callable[[str], None]
) -> Iterator[tuple[str, Engine, float]]:
    """Each engine when it is loaded and has matched once, and the seconds that took."""
    table = auction.subscriptions(0, subscriptions)
    lesson = auction.events(0, _LESSON_EVENTS)
    begin(f"access: loading {subscriptions:,} filters")
    start = process_time()
    access = Matcher()
    access.match_batch(lesson).read_all()
    access.add_many(table)
    access.match(auction.event(0))
    yield "access", access, process_time() - start

    begin(f"reading {subscriptions:,} filters for the other engines")
    start = process_time()
    filters = list(auction.subscription_filters(0, subscriptions))
    reading_seconds = process_time() - start
    others: dict[str, Engine] = {"counting": CountingMatcher(), "scan": ScanMatcher()}
    for name, engine in others.items():
        begin(f"{name}: loading {subscriptions:,} filters")
        start = process_time()
        for subscription, filter in zip(table["subscription"].to_pylist(), filters, strict=True):
            engine.add(subscription, filter)
        engine.match(auction.event(0))
        yield name, engine, reading_seconds + process_time() - start


def _pairs(matches: pa.Table, first: int = 0) -> Pairs:
    """The matches of events that several engines see, which are counted from `first` on."""
    shared = matches.filter(pc.less(matches["event"], first + EVENTS["counting"]))
    numbers = pc.subtract(shared["event"], first).to_pylist()
    return set(zip(numbers, shared["subscription"].to_pylist(), strict=True))


def _check(engine: str, found: Pairs, expected: Pairs, events: int) -> None:
    assert found == {pair for pair in expected if pair[0] < events}, f"{engine} disagrees"


@contextmanager
def _without_garbage_collector() -> Iterator[None]:
    """Full collections would traverse millions of live filter nodes, for 10 s in all."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def show_engines(console: Console, subscriptions: int, seed: int) -> None:
    """Measure the engines, and print a row for each as soon as it is measured."""
    print_heading(console, f"Three engines, the same {subscriptions:,} filters")
    console.print(Text(aligned(_HEADINGS, _WIDTHS), style="bold"))
    measured: list[EngineFigures] = []
    with running_bar(console) as bar:
        task = bar.add_task("", total=STEPS, completed=-1, figures="")

        def begin(title: str) -> None:
            bar.update(task, description=title, advance=1)

        for figures in measure_engines(subscriptions, seed, begin):
            measured.append(figures)
            console.print(Text(_row(figures)))
    access, counting, scan = (each.events_per_second for each in measured)
    speed = (
        f"access is {access / counting:,.0f} times as fast as counting "
        f"and {access / scan:,.0f} times as fast as scan"
    )
    agreement = (
        f"✓ same matches: access and counting on {EVENTS['counting']:,} events, "
        f"scan on {EVENTS['scan']} of them"
    )
    console.print(wrapped(console, speed))
    console.print(wrapped(console, agreement))


def _row(figures: EngineFigures) -> str:
    rate = figures.events_per_second
    cells = (
        figures.engine,
        f"{figures.load_seconds:.1f} s",
        f"{figures.events:,}",
        f"{figures.matches:,}",
        _duration(1 / rate),
        f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}",
    )
    return aligned(cells, _WIDTHS)


def _duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= 0.1 * size:
            return f"{seconds / size:.2g} {unit}"
    return f"{seconds * 1e6:.1f} µs"
