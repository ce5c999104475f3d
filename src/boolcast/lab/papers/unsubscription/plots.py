"""The plots of the experiments on unsubscription, one for each experiment."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from matplotlib.figure import Figure

from boolcast.lab.papers.plotting import grid_of, legend_above, styles, without_markers
from boolcast.lab.papers.unsubscription.checks import publication_ms

if TYPE_CHECKING:
    from boolcast.lab.papers.unsubscription.report import UnsubscriptionReport
    from boolcast.lab.papers.unsubscription.simulated_run import RunFigures

_STYLES: Final = styles(("active", "lazy", "packing", "incremental", "none"))


def draw(made: "UnsubscriptionReport") -> dict[str, Figure]:
    """A plot for each experiment that was run."""
    found: dict[str, Figure] = {}
    for part, plot in _PLOTS.items():
        runs = [each for each in made.runs if each.setting.part == part]
        if runs:
            found[part] = plot(sorted(runs, key=_draw_order))
    return found


def _draw_order(figures: "RunFigures") -> int:
    return list(_STYLES).index(figures.setting.policy)


def _main_comparison(runs: "Sequence[RunFigures]") -> Figure:
    """Fig. 9."""
    figure, panels = grid_of(2, 2, width=10, height=7.5)
    delays, queues, triggered, tables = panels
    for each in runs:
        curve, marked = each.curve, _STYLES[each.setting.policy]
        plain = without_markers(marked)
        delays.plot(curve.seconds, curve.delay, **plain)  # type: ignore[arg-type]
        queues.plot(curve.seconds, [max(queue, 0.5) for queue in curve.queue], **plain)
        names = [row.broker for row in each.core]
        triggered.plot(names, [max(row.triggered, 0.5) for row in each.core], **marked)
        tables.plot(names, [row.table_after for row in each.core], **marked)
    for axes, title in (
        (delays, "mean delay (s), by time of publication"),
        (queues, "longest queue of A to E"),
        (triggered, "triggered subscriptions at A to E"),
    ):
        axes.set_yscale("log")
        axes.set_title(title)
    tables.set_title("final table at A to E")
    tables.set_ylim(bottom=0)
    for axes in (delays, queues):
        axes.set_xlabel("seconds after the first removal")
    legend_above(figure, [tables])
    return figure


def _sweep(
    runs: "Sequence[RunFigures]",
    position: "Callable[[RunFigures], int]",
    label: str,
    second: "tuple[str, Callable[[RunFigures], int]]",
    *,
    is_second_log: bool,
) -> Figure:
    """The two policies over a number: the delay, and something else."""
    figure, (left, right) = grid_of(1, 2, width=10, height=3.8)
    title, value = second
    for policy in dict.fromkeys(each.setting.policy for each in runs):
        rows = sorted((each for each in runs if each.setting.policy == policy), key=position)
        at = [position(each) for each in rows]
        left.plot(at, [each.delay_after for each in rows], **_STYLES[policy])
        right.plot(at, [value(each) for each in rows], **_STYLES[policy])
        for axes in (left, right):
            axes.set_xticks(at)
            axes.set_xlabel(label)
    left.set_yscale("log")
    left.set_title("mean delay (s) after the first removal")
    right.set_title(title)
    if is_second_log:
        right.set_yscale("log")
    else:
        right.set_ylim(bottom=0)
    legend_above(figure, [left])
    return figure


def _removals(runs: "Sequence[RunFigures]") -> Figure:
    return _sweep(
        runs,
        lambda each: each.setting.load.unsubscriptions,
        "removals",
        ("longest queue of A to E", lambda each: each.peak_queue),
        is_second_log=True,
    )


def _degrees(runs: "Sequence[RunFigures]") -> Figure:
    return _sweep(
        runs,
        lambda each: each.setting.load.degree,
        "covering degree",
        ("final table at E", lambda each: each.core[-1].table_after),
        is_second_log=False,
    )


def _bars(
    panels: Mapping[str, Sequence[float]], names: Sequence[str], colours: Sequence[Any]
) -> Figure:
    figure, all_axes = grid_of(1, len(panels), width=10, height=3.2)
    for axes, (title, values) in zip(all_axes, panels.items(), strict=True):
        axes.bar(names, values, color=colours)
        axes.set_title(title)
    return figure


def _thresholds(runs: "Sequence[RunFigures]") -> Figure:
    rows = sorted(runs, key=lambda each: -each.setting.threshold)
    names = [f"θ = {each.setting.threshold:g}" for each in rows]
    panels: dict[str, Sequence[float]] = {
        "triggered subscriptions": [each.triggered for each in rows],
        "mean delay (s)": [each.delay_after for each in rows],
        "share of events with a wasted hop": [each.wasted_share for each in rows],
    }
    return _bars(panels, names, [_STYLES["incremental"]["color"]] * len(rows))


def _benefit(runs: "Sequence[RunFigures]") -> Figure:
    names = [each.setting.policy for each in runs]
    panels = {
        "ms for an event, mean of A to E": [publication_ms(each) for each in runs],
        "table, mean of A to E": [each.mean_table for each in runs],
    }
    return _bars(panels, names, [_STYLES[name]["color"] for name in names])


def _placements(runs: "Sequence[RunFigures]") -> Figure:
    names = [f"{each.setting.policy},\n{each.setting.load.placement}" for each in runs]
    colours = [_STYLES[each.setting.policy]["color"] for each in runs]
    panels = {
        "final table, mean of A to E": [each.mean_table for each in runs],
        "mean delay (s)": [each.delay_after for each in runs],
    }
    return _bars(panels, names, colours)


_PLOTS: "Final[dict[str, Callable[[Sequence[RunFigures]], Figure]]]" = {
    "x2": _benefit,
    "x3": _main_comparison,
    "x4": _removals,
    "x5": _degrees,
    "x6": _thresholds,
    "x9": _placements,
}
