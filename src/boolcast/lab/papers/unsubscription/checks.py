"""The checks of P4-X11, with its numbers."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final, TypeAlias

from boolcast.lab.papers.checks import Check, listed

if TYPE_CHECKING:
    from boolcast.lab.papers.unsubscription.simulated_run import RunFigures

Runs: TypeAlias = "Sequence[RunFigures]"


def checks(runs: Runs) -> list[Check]:
    """The checks of the experiments that were run."""
    found = list(_nothing_is_missing(runs))
    for part, check in _CHECKS.items():
        chosen = [each for each in runs if each.setting.part == part]
        if chosen:
            found += check(chosen)
    return sorted(found, key=lambda each: each.number)


def _nothing_is_missing(runs: Runs) -> Iterator[Check]:
    missing = sum(each.deliveries.missing for each in runs)
    wrong = sum(each.deliveries.wrong for each in runs)
    due = sum(each.deliveries.due for each in runs)
    yield Check(
        number=1,
        part="all",
        name="deliveries that are missing or wrong",
        bound="0",
        paper="0",
        ours=f"{missing + wrong} of {due:,}",
        holds=not missing and not wrong and all(each.is_at_rest for each in runs),
    )


def _main_comparison(runs: Runs) -> Iterator[Check]:
    active, lazy, packing, incremental = (
        _of(runs, policy) for policy in ("active", "lazy", "packing", "incremental")
    )
    triggered = [each.triggered for each in active.core]
    yield Check(
        number=2,
        part="x3",
        name="triggered subscriptions, active, A to E",
        bound="non-decreasing, E ≥ 5 A",
        paper="≈ 700 to ≈ 20,000: 28 times",
        ours=f"{listed(triggered, ',')}: {_times(triggered[-1], triggered[0])} times",
        holds=_rises(triggered) and triggered[-1] >= 5 * triggered[0],
    )
    at_e = incremental.core[-1].triggered
    yield _ratio(
        2, "x3", "triggered at E, incremental / active", (at_e, triggered[-1]), 0.15, "0.055"
    )
    yield _ratio(
        2,
        "x3",
        "triggered at all brokers, incremental / active",
        (incremental.triggered, active.triggered),
        0.3,
        "–",
    )
    yield _ratio(
        3,
        "x3",
        "longest core queue, incremental / active",
        (incremental.peak_queue, active.peak_queue),
        0.05,
        "150 / 24,000 = 0.006",
    )
    queues = [each.peak_queue for each in (incremental, lazy, packing, active)]
    yield Check(
        number=3,
        part="x3",
        name="longest core queue: incremental, lazy, packing, active",
        bound="lazy and packing in between",
        paper="≤ 150, ≤ 1,500, ≤ 1,500, ≈ 24,000",
        ours=listed(queues, ","),
        holds=all(queues[0] < each < queues[3] for each in queues[1:3]),
    )
    delays = [each.delay_after for each in (incremental, lazy, packing, active)]
    yield _ratio(
        4,
        "x3",
        "mean delay after the first removal, incremental / active",
        (delays[0], delays[3]),
        0.05,
        "0.4 s / > 1000 s = 0.0004",
    )
    yield Check(
        number=4,
        part="x3",
        name="mean delay (s): incremental, lazy, packing, active",
        bound="incremental < lazy, packing < active",
        paper="0.4, ≈ 600, ≈ 600, > 1000",
        ours=listed(delays, ".3g"),
        holds=all(delays[0] < each < delays[3] for each in delays[1:3]),
    )
    tables = [each.mean_table for each in (incremental, active, lazy)]
    yield Check(
        number=5,
        part="x3",
        name="final table, mean of A to E: incremental, active, lazy",
        bound="non-decreasing, ties 2 %",
        paper="in this order",
        ours=listed(tables, ",.0f"),
        holds=_rises(tables, slack=0.02),
    )


def _thresholds(runs: Runs) -> Iterator[Check]:
    falling = sorted(runs, key=lambda each: -each.setting.threshold)
    names = ", ".join(f"{each.setting.threshold:g}" for each in falling)
    triggered = [each.triggered for each in falling]
    at_e = [each.core[-1].triggered for each in falling]
    yield Check(
        number=6,
        part="x6",
        name=f"triggered subscriptions, θ = {names}",
        bound="non-increasing",
        paper="E: 1543, 174, 0",
        ours=f"{listed(triggered, ',')}; E: {listed(at_e, ',')}",
        holds=_rises(triggered[::-1]),
    )
    delays = [each.delay_after for each in falling]
    yield Check(
        number=6,
        part="x6",
        name=f"mean delay (ms), θ = {names}",
        bound="non-increasing",
        paper="544, 477, 333",
        ours=", ".join(f"{each * 1_000:.1f}" for each in delays),
        holds=_rises(delays[::-1]),
    )
    wasted = [each.wasted_hops for each in falling]
    yield Check(
        number=6,
        part="x6",
        name=f"hops in vain, θ = {names}",
        bound="non-decreasing",
        paper="more false positives",
        ours=listed(wasted, ","),
        holds=_rises(wasted),
    )
    shares = [each.wasted_share for each in falling]
    yield Check(
        number=6,
        part="x6",
        name=f"share of the attracted events with a hop in vain, θ = {names}",
        bound="≤ 1 - θ + 0.05",
        paper="about 1 - θ",
        ours=listed(shares, ".3f"),
        holds=all(
            share <= 1.05 - each.setting.threshold
            for share, each in zip(shares, falling, strict=True)
        ),
    )


def _degrees(runs: Runs) -> Iterator[Check]:
    for policy, bound, paper in (
        ("active", "last ≥ 1.5 × first", "< 8,000 to > 21,000: 2.6 times"),
        ("incremental", "last ≤ 1.1 × first", "decreases"),
    ):
        rows = sorted(_all_of(runs, policy), key=lambda each: each.setting.load.degree)
        tables = [each.core[-1].table_after for each in rows]
        ratio = tables[-1] / tables[0]
        yield Check(
            number=7,
            part="x5",
            name=f"final table at E, {policy}, degree "
            + ", ".join(str(each.setting.load.degree) for each in rows),
            bound=bound,
            paper=paper,
            ours=f"{listed(tables, ',')}: {ratio:.2f} times",
            holds=ratio >= 1.5 if policy == "active" else ratio <= 1.1,
        )


def _numbers(runs: Runs) -> Iterator[Check]:
    for policy, bound, paper in (
        ("active", "increases", "> 260 s at 20, grows"),
        ("incremental", "within a factor 2", "< 0.5 s throughout"),
    ):
        rows = sorted(_all_of(runs, policy), key=lambda each: each.setting.load.unsubscriptions)
        delays = [each.delay_after for each in rows]
        is_right = (
            all(left < right for left, right in pairwise(delays))
            if policy == "active"
            else max(delays) <= 2 * min(delays)
        )
        yield Check(
            number=8,
            part="x4",
            name=f"mean delay (s), {policy}, removals "
            + ", ".join(str(each.setting.load.unsubscriptions) for each in rows),
            bound=bound,
            paper=paper,
            ours=listed(delays, ".3g"),
            holds=is_right,
        )


def _benefit(runs: Runs) -> Iterator[Check]:
    milliseconds = [publication_ms(_of(runs, policy)) for policy in ("active", "lazy", "none")]
    yield Check(
        number=9,
        part="x2",
        name="ms for an event at A to E: active, lazy, none",
        bound="increasing",
        paper="3.0, 6.2, 7.9",
        ours=listed(milliseconds, ".2f"),
        holds=all(left < right for left, right in pairwise(milliseconds)),
    )
    yield _ratio(
        9,
        "x2",
        "ms for an event, active / none",
        (milliseconds[0], milliseconds[2]),
        0.6,
        "0.38",
    )


def publication_ms(figures: "RunFigures") -> float:
    """The mean cost of an event at A to E, where each table entry adds to it."""
    costs = figures.setting.costs
    spent = sum(
        each.publications * (costs.publication_ms + each.table_after * costs.table_entry_ms)
        for each in figures.core
    )
    return spent / sum(each.publications for each in figures.core)


def _clusters(runs: Runs) -> Iterator[Check]:
    savings = {}
    for placement in ("scattered", "clustered"):
        chosen = [each for each in runs if each.setting.load.placement == placement]
        active, incremental = _of(chosen, "active"), _of(chosen, "incremental")
        savings[placement] = 1 - incremental.mean_table / active.mean_table
    scattered, clustered = savings["scattered"], savings["clustered"]
    yield Check(
        number=10,
        part="x9",
        name="core table saved by incremental: scattered, clustered",
        bound="clustered ≥ 50 % and > scattered",
        paper="clustered 82–84 %",
        ours=f"{scattered:.0%}, {clustered:.0%}",
        holds=clustered >= 0.5 and clustered > scattered,
    )


_CHECKS: Final[dict[str, Callable[[Runs], Iterator[Check]]]] = {
    "x2": _benefit,
    "x3": _main_comparison,
    "x4": _numbers,
    "x5": _degrees,
    "x6": _thresholds,
    "x9": _clusters,
}


def _all_of(runs: Runs, policy: str) -> "list[RunFigures]":
    return [each for each in runs if each.setting.policy == policy]


def _of(runs: Runs, policy: str) -> "RunFigures":
    (found,) = _all_of(runs, policy)
    return found


def _rises(values: Sequence[float], slack: float = 0.0) -> bool:
    return all(left <= right * (1 + slack) for left, right in pairwise(values))


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _times(value: float, base: float) -> str:
    return f"{value / base:.1f}" if base else "∞"


def _ratio(
    number: int, part: str, name: str, values: tuple[float, float], bound: float, paper: str
) -> Check:
    value, base = values
    return Check(
        number=number,
        part=part,
        name=name,
        bound=f"≤ {bound}",
        paper=paper,
        ours=f"{_figure(value)} / {_figure(base)}" + (f" = {value / base:.2g}" if base else ""),
        holds=value <= bound * base,
    )
