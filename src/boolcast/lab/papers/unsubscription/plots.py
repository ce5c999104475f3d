"""The plots of the experiments on unsubscription, one file for each experiment."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from matplotlib.figure import Figure

from boolcast.lab.papers.pictures import save
from boolcast.lab.papers.unsubscription.checks import publication_ms
from boolcast.lab.papers.unsubscription.experiment import Part, Report
from boolcast.lab.papers.unsubscription.run import RunFigures

_COLOURS: Final = {
    "active": "tab:red",
    "lazy": "tab:orange",
    "packing": "tab:blue",
    "incremental": "tab:green",
    "none": "tab:grey",
}


def draw(made: Report, folder: Path) -> None:
    """Write a plot for each experiment that was run; the same figures give the same file."""
    for part, plot in _PLOTS.items():
        runs = [each for each in made.runs if each.setting.part == part]
        if runs:
            save(plot(runs), folder / f"{part}.svg")


def _main_comparison(runs: Sequence[RunFigures]) -> Figure:
    """Fig. 9."""
    figure = Figure(figsize=(10, 7), layout="constrained")
    (delays, queues), (triggered, tables) = figure.subplots(2, 2)
    for each in runs:
        policy, curve = each.setting.policy, each.curve
        style: dict[str, Any] = {"color": _COLOURS[policy], "label": policy, "linewidth": 1.2}
        delays.plot(curve.seconds, curve.delay, **style)
        queues.plot(curve.seconds, [max(queue, 0.5) for queue in curve.queue], **style)
        names = [row.broker for row in each.core]
        triggered.plot(names, [max(row.triggered, 0.5) for row in each.core], marker="o", **style)
        tables.plot(names, [row.table_after for row in each.core], marker="o", **style)
    for axes, title in (
        (delays, "mean delay (s) of what was published then"),
        (queues, "longest queue of A to E"),
        (triggered, "triggered subscriptions at A to E"),
    ):
        axes.set_yscale("log")
        axes.set_title(title)
    tables.set_title("table at A to E at the end")
    tables.set_ylim(bottom=0)
    for axes in (delays, queues):
        axes.set_xlabel("seconds after the first removal")
    delays.legend()
    return figure


def _sweep(
    runs: Sequence[RunFigures], position: Callable[[RunFigures], int], label: str, *, table: bool
) -> Figure:
    """The two policies over a number: delay and queue, or delay and table at E."""
    figure = Figure(figsize=(10, 3.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    for policy in dict.fromkeys(each.setting.policy for each in runs):
        rows = sorted((each for each in runs if each.setting.policy == policy), key=position)
        places = [position(each) for each in rows]
        style: dict[str, Any] = {"color": _COLOURS[policy], "label": policy, "marker": "o"}
        left.plot(places, [each.delay_after for each in rows], **style)
        if table:
            right.plot(places, [each.core[-1].table_after for each in rows], **style)
        else:
            right.plot(places, [each.peak_queue for each in rows], **style)
    left.set_yscale("log")
    left.set_title("mean delay (s) after the first removal")
    right.set_title("table at E at the end" if table else "longest queue of A to E")
    if not table:
        right.set_yscale("log")
    for axes in (left, right):
        axes.set_xlabel(label)
    left.legend()
    return figure


def _removals(runs: Sequence[RunFigures]) -> Figure:
    return _sweep(runs, lambda each: each.setting.load.unsubscriptions, "removals", table=False)


def _degrees(runs: Sequence[RunFigures]) -> Figure:
    return _sweep(runs, lambda each: each.setting.load.degree, "covering degree", table=True)


def _bars(
    panels: Mapping[str, Sequence[float]], names: Sequence[str], colours: Sequence[str]
) -> Figure:
    figure = Figure(figsize=(10, 3.2), layout="constrained")
    rows: Any = figure.subplots(1, len(panels), squeeze=False)
    for axes, (title, values) in zip(rows[0], panels.items(), strict=True):
        axes.bar(names, values, color=colours)
        axes.set_title(title)
    return figure


def _thresholds(runs: Sequence[RunFigures]) -> Figure:
    rows = sorted(runs, key=lambda each: -each.setting.threshold)
    names = [f"θ = {each.setting.threshold:g}" for each in rows]
    panels: dict[str, Sequence[float]] = {
        "triggered subscriptions": [each.triggered for each in rows],
        "mean delay (s)": [each.delay_after for each in rows],
        "share of events with a hop in vain": [each.wasted_share for each in rows],
    }
    return _bars(panels, names, ["tab:green"] * len(rows))


def _benefit(runs: Sequence[RunFigures]) -> Figure:
    names = [each.setting.policy for each in runs]
    panels = {
        "ms for an event, mean of A to E": [publication_ms(each) for each in runs],
        "table, mean of A to E": [each.mean_table for each in runs],
    }
    return _bars(panels, names, [_COLOURS[name] for name in names])


def _placements(runs: Sequence[RunFigures]) -> Figure:
    names = [f"{each.setting.policy},\n{each.setting.load.placement}" for each in runs]
    colours = [_COLOURS[each.setting.policy] for each in runs]
    panels = {
        "table at the end, mean of A to E": [each.mean_table for each in runs],
        "mean delay (s)": [each.delay_after for each in runs],
    }
    return _bars(panels, names, colours)


_PLOTS: Final[dict[Part, Callable[[Sequence[RunFigures]], Figure]]] = {
    Part.X2: _benefit,
    Part.X3: _main_comparison,
    Part.X4: _removals,
    Part.X5: _degrees,
    Part.X6: _thresholds,
    Part.X9: _placements,
}
