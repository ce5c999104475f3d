"""The experiments of P4 on unsubscription: the runs of each, and their sizes.

P4-X3 runs at the paper's size, the others at the reduced size of P4-X11, which is enough for
ratios.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import msgspec

from boolcast.lab.papers.runs import Experiment
from boolcast.lab.papers.unsubscription.simulated_run import RunFigures, Setting
from boolcast.lab.papers.unsubscription.workload import Load, Placement
from boolcast.simulation.network.costs import Costs

FIGURES: Final = msgspec.json.Decoder(RunFigures)

_LEAST_DEGREE: Final = 80
_TABLE_2_NONE_MS: Final = 7.9
"""What Table II gives for a publication without covering."""


def _sized(share: float, roots: int, degree: int, unsubscriptions: int = 20) -> Load:
    """The load with this share of the subscriptions.

    Each root gets fewer children, down to 80. Below that there are fewer roots and removals.
    """
    fewer = min(1.0, share * degree / _LEAST_DEGREE)
    return Load(
        roots=max(round(roots * fewer), 2),
        degree=max(round(degree * share), _LEAST_DEGREE),
        unsubscriptions=max(round(unsubscriptions * fewer), 1),
        warm_up_seconds=max(round(200 * fewer), 20),
    )


def _long_enough(loads: Sequence[Load], costs: Costs) -> list[Load]:
    """The same duration for all: until queues are empty even if every child is sent everywhere."""
    per_child = (costs.subscription_matching_ms + costs.subscription_covering_ms) / 1_000
    seconds = max(
        each.unsubscription_seconds
        + each.unsubscriptions
        * each.degree
        * per_child
        / (1 - costs.publication_ms / each.interval_ms)
        for each in loads
    )
    return [msgspec.structs.replace(each, seconds_after=round(seconds) + 20.0) for each in loads]


def _main_comparison(share: float, seed: int) -> list[Setting]:
    (load,) = _long_enough([_sized(share, 38, 2_100)], Costs())
    return [
        Setting(part="x3", policy=policy, load=load, seed=seed)
        for policy in ("active", "lazy", "packing", "incremental")
    ]


def _benefit_of_covering(share: float, seed: int) -> list[Setting]:
    """20 roots make the 42,000 subscriptions of P4-X2; each table entry adds to an event's cost."""
    load = msgspec.structs.replace(
        _sized(share, 20, 2_100),
        unsubscriptions=0,
        interval_ms=20.0,
        warm_up_seconds=1_000.0 * share,
        seconds_after=1_000.0 * share,
    )
    costs = Costs(publication_ms=0.0, table_entry_ms=_TABLE_2_NONE_MS / load.subscriptions)
    return [
        Setting(part="x2", policy=policy, load=load, seed=seed, costs=costs)
        for policy in ("active", "lazy", "none")
    ]


def _numbers_of_removals(share: float, seed: int) -> list[Setting]:
    loads = [_sized(share, 75, 1_065, removals) for removals in (20, 40, 60)]
    return _both("x4", _for_a_minute(loads), seed)


def _covering_degrees(share: float, seed: int) -> list[Setting]:
    loads = [_sized(share, *size) for size in ((114, 700), (57, 1_400), (38, 2_100))]
    return _both("x5", _for_a_minute(loads), seed)


def _for_a_minute(loads: Iterable[Load]) -> list[Load]:
    """Sweeps compare delays during the removals, and tables at the end."""
    return [msgspec.structs.replace(each, seconds_after=60.0) for each in loads]


def _thresholds(share: float, seed: int) -> list[Setting]:
    (load,) = _long_enough([_sized(share, 38, 2_100)], Costs())
    return [
        Setting(part="x6", policy="incremental", load=load, seed=seed, threshold=threshold)
        for threshold in (0.9, 0.5, 0.1)
    ]


def _placements(share: float, seed: int) -> list[Setting]:
    """P4-X8's 30,000 subscriptions with 30 children for each root: 968 roots, 300 removed.

    A third of the children accept an event, since 42 of 30 is impossible. An event comes every
    400 ms, 22 for each root before the first removal.
    """
    roots = max(round(968 * share), 4)
    removals = max(round(300 * share), 1)
    placements: tuple[Placement, ...] = ("scattered", "clustered")
    loads = [
        Load(
            roots=roots,
            degree=30,
            matching=10.0,
            unsubscriptions=removals,
            unsubscription_seconds=0.5 * removals,
            interval_ms=400.0,
            warm_up_seconds=22 * roots * 0.4,
            placement=placement,
        )
        for placement in placements
    ]
    return _both("x9", _long_enough(loads, Costs()), seed)


def _both(part: str, loads: Iterable[Load], seed: int) -> list[Setting]:
    """Each load under both policies. Plain removal ignores history, so 20 s of it are enough."""
    short = {"active": 20.0, "incremental": float("inf")}
    return [
        Setting(
            part=part,
            policy=policy,
            load=msgspec.structs.replace(load, warm_up_seconds=min(load.warm_up_seconds, seconds)),
            seed=seed,
        )
        for load in loads
        for policy, seconds in short.items()
    ]


def _at_most(most: float, experiment: Callable[[float, int], list[Setting]]) -> Experiment[Setting]:
    """The experiment with at most this share of the paper's subscriptions."""

    def settings(*, scale: float, seed: int) -> list[Setting]:
        return experiment(min(scale, most), seed)

    return settings


EXPERIMENTS: Final[Mapping[str, Experiment[Setting]]] = {
    "x2": _at_most(1 / 8, _benefit_of_covering),
    "x3": _at_most(1.0, _main_comparison),
    "x4": _at_most(0.076, _numbers_of_removals),
    "x5": _at_most(1 / 8, _covering_degrees),
    "x6": _at_most(1 / 16, _thresholds),
    "x9": _at_most(0.17, _placements),
}
"""The experiments by the numbers of P4.

All have 5,000 subscriptions or more (10,000 for the covering degree 700), and all but P4-X9 have
80 children for each root or more.
"""
