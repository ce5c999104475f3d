"""The plots of the experiments on pruning: what is removed, what it costs, and the time."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from boolcast.lab.papers.plotting import grid_of, legend_above, styles
from boolcast.lab.papers.pruning.checks import FIVE_BROKERS, ONE_BROKER, Published
from boolcast.lab.papers.pruning.experiment import Curve, P, Setting

if TYPE_CHECKING:
    from boolcast.lab.papers.pruning.report import PruningReport

_REMOVED: Final = "predicates removed"
_MORE: Final = "more events (scale on the right)"
_COUNTING: Final = "time, counting engine"
_ACCESS: Final = "time, access engine"
_WORK: Final = "work"
_STYLES: Final = styles((_REMOVED, _MORE, _COUNTING, _ACCESS, _WORK), marked=False)
_PUBLISHED: Final = {"color": "tab:grey", "linestyle": ":", "label": "published at its cut-off"}
_CUT_OFF: Final = {"color": "black", "linewidth": 0.6, "linestyle": "--", "label": "our cut-off"}


def draw(made: "PruningReport") -> dict[str, Figure]:
    """A plot for each experiment that was run."""
    found: dict[str, Figure] = {}
    if made.tables:
        found["x5"] = _one_broker(made)
    if made.networks:
        found["x3"] = _five_brokers(made)
    return found


def _one_broker(made: "PruningReport") -> Figure:
    """Figs. 4 and 5."""
    figure, lower = _curves(made.tables, ONE_BROKER, "more events match (share of all)")
    for axes, curve in zip(lower, made.tables, strict=True):
        at = [curve.proportion(point) for point in curve.points]
        whole = curve.points[0]
        if whole.access_microseconds:
            access = [
                (point.access_microseconds or 0.0) / whole.access_microseconds
                for point in curve.points
            ]
            axes.plot(at, access, **_STYLES[_ACCESS])
        axes.plot(at, [point.work / whole.work for point in curve.points], **_STYLES[_WORK])
    return _framed(figure, lower)


def _five_brokers(made: "PruningReport") -> Figure:
    """Figs. 6 and 7."""
    figure, lower = _curves(made.networks, FIVE_BROKERS, "more events between brokers (of all)")
    return _framed(figure, lower)


def _framed(figure: Figure, lower: Sequence[Axes]) -> Figure:
    """The figure with the limits and the legend that need all curves."""
    for axes in lower:
        axes.set_ylim(bottom=0)
    legend_above(figure, figure.axes, ncols=4)
    return figure


def _curves(
    curves: Sequence[Curve[P]], published: Mapping[Setting, Published], growth: str
) -> tuple[Figure, Sequence[Axes]]:
    """Above, the predicates removed and the events added; below, the counting engine's time."""
    figure, panels = grid_of(2, len(curves), width=3.3 * len(curves), height=6.6)
    upper, lower = panels[: len(curves)], panels[len(curves) :]
    for above, below, curve in zip(upper, lower, curves, strict=True):
        paper, cut_off = published[curve.setting], curve.proportion(curve.cut_off)
        at = [curve.proportion(point) for point in curve.points]
        above.plot(at, [curve.relief(point) for point in curve.points], **_STYLES[_REMOVED])
        above.axhline(paper.relief, **_PUBLISHED)  # type: ignore[arg-type]
        above.set_title(f"class {curve.setting}")
        beside = above.twinx()
        beside.plot(at, [curve.growth(point) for point in curve.points], **_STYLES[_MORE])
        beside.tick_params(axis="y", colors=_STYLES[_MORE]["color"])
        beside.set_ylim(bottom=0)
        if curve is curves[-1]:
            beside.set_ylabel(growth, color=_STYLES[_MORE]["color"])
        times = [1 - (curve.saving(point) or 0.0) for point in curve.points]
        below.plot(at, times, **_STYLES[_COUNTING])
        below.axhline(1 - paper.saving, **_PUBLISHED)  # type: ignore[arg-type]
        below.set_xlabel("prunings done, of all")
        for axes in (above, below):
            axes.axvline(cut_off, **_CUT_OFF)  # type: ignore[arg-type]
    upper[0].set_ylabel("predicates removed, of all possible", color=_STYLES[_REMOVED]["color"])
    lower[0].set_ylabel("share of what the whole table takes")
    return figure, lower
