"""The engines and the workloads behind their names, and how an engine is loaded and read."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

import pyarrow as pa
from msgspec.structs import replace

from boolcast.lab.benchmarks.choices import EngineName, WorkloadName
from boolcast.matching.counting.engine import CountingMatcher
from boolcast.matching.diagrams.engine import MbdEngine
from boolcast.matching.inputs.protocol import Engine
from boolcast.matching.matcher import Matcher
from boolcast.matching.scan import ScanMatcher
from boolcast.workloads import PRESETS, Auction, Diverse, Unselective, Workload


class Contender(NamedTuple):
    """An engine, and by how much fewer events than the fastest it is measured with."""

    make: Callable[[], Engine]
    fewer_events: int


CONTENDERS: Final[Mapping[EngineName, Contender]] = {
    EngineName.ACCESS: Contender(Matcher, 1),
    EngineName.COUNTING: Contender(CountingMatcher, 20),
    EngineName.MBD: Contender(MbdEngine, 4),
    EngineName.SCAN: Contender(ScanMatcher, 5_000),
}

WORKLOADS: Final[Mapping[WorkloadName, Callable[[int, int], Workload]]] = {
    WorkloadName.AUCTION: lambda size, seed: auction("auction", size, seed),
    WorkloadName.AUCTION_ZIPF: lambda size, seed: auction("auction-zipf", size, seed),
    WorkloadName.AUCTION_RANDOM: lambda size, seed: auction("auction-random", size, seed),
    WorkloadName.FIXED: lambda size, seed: auction("fixed", size, seed),
    WorkloadName.DIVERSE: lambda size, seed: Diverse(seed=seed),
    WorkloadName.UNSELECTIVE: lambda size, seed: Unselective(seed=seed),
}
"""For so many subscriptions, from a seed."""


def auction(preset: str, size: int, seed: int, *, only_class_1: bool = False) -> Auction:
    """A preset with as many titles as subscriptions; of class 1 alone if wanted."""
    parameters = replace(PRESETS[preset], titles=size)
    if only_class_1:
        parameters = replace(parameters, subscription_classes=("S1",))
    return Auction(parameters, seed=seed)


class Footprint(NamedTuple):
    """What an engine says of itself, in bytes and in candidates so far; None if it does not."""

    structure_bytes: int | None = None
    filter_bytes: int | None = None
    id_bytes: int | None = None
    text_bytes: int | None = None
    candidates: int | None = None


def load(engine: Engine, subscriptions: pa.Table) -> None:
    """Add all subscriptions, from their texts, at once where the engine can do that."""
    table = subscriptions.select(["subscription", "filter"])
    if isinstance(engine, Matcher):
        rejects = engine.add_many(table)
        assert not len(rejects), rejects.slice(0, 5).to_pylist()
    else:
        for entry in table.to_pylist():
            engine.add(entry["subscription"], entry["filter"])


def settle(engine: Engine) -> None:
    """Let the engine put to use what it learned from the events so far."""
    if isinstance(engine, Matcher):
        engine.merge()
    elif isinstance(engine, MbdEngine):
        engine.index()


def footprint(engine: Engine) -> Footprint:
    """What the engine knows of itself."""
    if not isinstance(engine, Matcher):
        return Footprint()
    stats = engine.stats(expensive=0)
    return Footprint(
        structure_bytes=stats.structure_bytes,
        filter_bytes=stats.filter_bytes,
        id_bytes=stats.id_bytes,
        text_bytes=stats.text_bytes,
        candidates=round(stats.candidates_per_event * stats.events),
    )


def count_matches(engine: Engine, batches: Iterable[pa.Table]) -> int:
    """Match batches of events and read all results."""
    return sum(batch.num_rows for events in batches for batch in engine.match_batch(events))


def pairs(engine: Engine, events: pa.Table) -> set[tuple[int, str]]:
    """The matches as pairs of an event's number and a subscription."""
    return pairs_of(engine.match_batch(events).read_all())


def pairs_of(matches: pa.Table) -> set[tuple[int, str]]:
    """The rows of a table with the columns `event` and `subscription`."""
    columns = (matches["event"].to_pylist(), matches["subscription"].to_pylist())
    return set(zip(*columns, strict=True))
