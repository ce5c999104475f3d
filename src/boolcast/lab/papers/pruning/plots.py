"""The plots of the experiments on pruning: what is relieved, what it costs, and the time."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from matplotlib.figure import Figure

from boolcast.lab.papers.pictures import save
from boolcast.lab.papers.pruning.checks import FIVE_BROKERS, ONE_BROKER, Published
from boolcast.lab.papers.pruning.curves import Curve, P, Setting
from boolcast.lab.papers.pruning.run import Report

_RELIEF: Final = "tab:blue"
_GROWTH: Final = "tab:red"
_COUNTING: Final = "tab:green"
_ACCESS: Final = "tab:purple"
_WORK: Final = "tab:orange"
_PUBLISHED: Final = "tab:grey"


def draw(made: Report, folder: Path) -> None:
    """Write a plot for each experiment that was run; the same figures give the same file."""
    plots: dict[str, Figure] = {}
    if made.tables:
        plots["pruning-x5"] = _one_broker(made)
    if made.networks:
        plots["pruning-x3"] = _five_brokers(made)
    for name, figure in plots.items():
        save(figure, folder / f"{name}.svg")


def _one_broker(made: Report) -> Figure:
    """Figs. 4 and 5."""
    figure, lower = _curves(made.tables, ONE_BROKER, "more events match (share of all)")
    for axes, curve in zip(lower, made.tables, strict=True):
        places = [curve.proportion(point) for point in curve.points]
        whole = curve.points[0]
        style: dict[str, Any] = {"linewidth": 1.2}
        work = [point.work / whole.work for point in curve.points]
        axes.plot(places, work, color=_WORK, label="work", **style)
        if whole.access_microseconds:
            access = [
                (point.access_microseconds or 0.0) / whole.access_microseconds
                for point in curve.points
            ]
            axes.plot(places, access, color=_ACCESS, label="access engine", **style)
    return _framed(figure, lower)


def _five_brokers(made: Report) -> Figure:
    """Figs. 6 and 7."""
    figure, lower = _curves(made.networks, FIVE_BROKERS, "more events between brokers (of all)")
    return _framed(figure, lower)


def _framed(figure: Figure, lower: Sequence[Any]) -> Figure:
    """With all lines in it: where an axis begins is said last."""
    for axes in lower:
        axes.set_ylim(bottom=0)
    lower[0].legend(fontsize="small")
    return figure


def _curves(
    curves: Sequence[Curve[P]], published: Mapping[Setting, Published], growth: str
) -> tuple[Figure, Sequence[Any]]:
    """Above what is relieved and what passes more, below the time of the counting engine."""
    figure = Figure(figsize=(3.3 * len(curves), 6), layout="constrained")
    upper, lower = figure.subplots(2, len(curves), squeeze=False)
    for place, curve in enumerate(curves):
        above, below = upper[place], lower[place]
        paper, cut = published[curve.setting], curve.proportion(curve.cut_off)
        places = [curve.proportion(point) for point in curve.points]
        relief = [curve.relief(point) for point in curve.points]
        above.plot(places, relief, color=_RELIEF, label="predicates removed")
        above.axhline(paper.relief, color=_PUBLISHED, linestyle=":", label="published, cut-off")
        above.set_title(f"class {curve.setting}")
        beside = above.twinx()
        beside.plot(places, [curve.growth(point) for point in curve.points], color=_GROWTH)
        beside.tick_params(axis="y", colors=_GROWTH)
        beside.set_ylim(bottom=0)
        if place == len(curves) - 1:
            beside.set_ylabel(growth, color=_GROWTH)
        times = [1 - (curve.saving(point) or 0.0) for point in curve.points]
        below.plot(places, times, color=_COUNTING, label="counting engine", linewidth=1.2)
        below.axhline(1 - paper.saving, color=_PUBLISHED, linestyle=":")
        below.set_xlabel("prunings done, of all")
        for axes in (above, below):
            axes.axvline(cut, color="black", linewidth=0.6, linestyle="--")
    upper[0].set_ylabel("predicates removed, of all that can be", color=_RELIEF)
    upper[0].legend(fontsize="small")
    lower[0].set_ylabel("of what the whole table takes")
    return figure, list(lower)
