"""The plots of the experiments on advertisements, one for each experiment."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from matplotlib.figure import Figure

from boolcast.cli.output.tables import of_kind
from boolcast.lab.papers.advertisements.overlap import (
    MIX,
    OverlapFigures,
    Representation,
    Scenario,
)
from boolcast.lab.papers.advertisements.pruning import KINDS, PruningFigures
from boolcast.lab.papers.plotting import Style, grid_of, legend_above, shades, styles
from boolcast.workloads.classes import SUBSCRIPTION_CLASSES

if TYPE_CHECKING:
    from boolcast.lab.papers.advertisements.report import AdvertisementReport

_QUESTIONS: Final[tuple[tuple[Scenario, Representation], ...]] = (
    ("all", "boolean"),
    ("all", "conjunctive"),
    ("first", "boolean"),
    ("first", "conjunctive"),
)
_OVERLAP: Final = styles(f"{scenario.title()}, {form}" for scenario, form in _QUESTIONS)
_PRUNING: Final = styles(
    ("overlapping", "memory saved", "candidates", "work of First"), marked=False
)


def draw(made: "AdvertisementReport") -> dict[str, Figure]:
    """A plot for each experiment that was run."""
    found: dict[str, Figure] = {}
    overlap = of_kind(OverlapFigures, made.runs)
    if overlap:
        found["overlap"] = _overlap(overlap)
    pruning = of_kind(PruningFigures, made.runs)
    for part, plot in (("pruning", _pruning), ("combined", _combined)):
        runs = [each for each in pruning if each.setting.part == part]
        if runs:
            found[part] = plot(runs)
    return found


def _overlap(runs: Sequence[OverlapFigures]) -> Figure:
    """Figs 6 and 7."""
    figure, panels = grid_of(2, 2, width=10, height=7.5)
    rising = sorted(runs, key=lambda each: each.setting.advertisements)
    at = [each.setting.advertisements for each in rising]
    for axes, name in zip(panels, (*SUBSCRIPTION_CLASSES, MIX), strict=True):
        for (scenario, form), style in zip(_QUESTIONS, _OVERLAP.values(), strict=True):
            axes.plot(at, [each.row(name, scenario, form).milliseconds for each in rising], **style)
        axes.set_title(f"{name}: ms for a subscription")
        axes.set_xlabel("advertisements")
        axes.set_ylim(bottom=0)
    legend_above(figure, panels[:1])
    return figure


def _pruning(runs: Sequence[PruningFigures]) -> Figure:
    """Figs 8 to 12, right-hand sides; work in place of their times."""
    figure, panels = grid_of(3, 3, width=10, height=9)
    by_kind = {each.setting.kind: each for each in runs}
    for axes, kind in zip(panels, KINDS, strict=True):
        curve = by_kind[kind]
        points = curve.points
        at = [curve.proportion(point) for point in points]
        whole = max(points[0].first_work, 1)
        values = (
            [point.overlapping for point in points],
            [curve.memory(point) for point in points],
            [point.candidates for point in points],
            [point.first_work / whole for point in points],
        )
        for ordinates, style in zip(values, _PRUNING.values(), strict=True):
            axes.plot(at, ordinates, **style)
        cut_off: Style = {"color": "tab:grey", "linestyle": ":", "label": "cut-off"}
        axes.axvline(curve.proportion(curve.cut_off), **cut_off)
        axes.set_title(kind)
        axes.set_ylim(0, 1.8)
    for axes in panels[6:]:
        axes.set_xlabel("share of the prunings")
    legend_above(figure, panels[:1])
    return figure


def _combined(runs: Sequence[PruningFigures]) -> Figure:
    """Figs 13 and 14; work in place of their times."""
    figure, panels = grid_of(2, 2, width=10, height=8)
    rising = sorted(runs, key=lambda each: each.setting.subscription_pruning)
    for axes, (name, title) in zip(
        panels,
        (
            ("candidates", "candidates for each subscription"),
            ("overlapping", "share of subscriptions that overlap"),
            ("first_work", "First: work for an advertisement"),
            ("all_work", "All: work for an advertisement"),
        ),
        strict=True,
    ):
        for each, style in zip(rising, shades(len(rising)), strict=True):
            axes.plot(
                [each.memory(point) for point in each.points],
                [getattr(point, name) for point in each.points],
                label=f"{each.setting.subscription_pruning:.0%}",
                **style,
            )
        axes.set_title(title)
        axes.set_xlabel("share of the advertisements' associations removed")
        axes.set_ylim(bottom=0)
    legend_above(figure, panels[:1], title="subscription prunings")
    return figure
