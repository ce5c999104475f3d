"""The plots of the experiments on advertisements, one file for each experiment."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from matplotlib.figure import Figure

from boolcast.cli.output.tables import of_kind
from boolcast.lab.papers.advertisements.overlap import MIX, Form, OverlapFigures, Scenario
from boolcast.lab.papers.advertisements.pruning import KINDS, PruningFigures
from boolcast.lab.papers.advertisements.run import Part, Report
from boolcast.lab.papers.pictures import save
from boolcast.workloads.classes import SUBSCRIPTION_CLASSES

_STYLES: Final[dict[tuple[Scenario, Form], dict[str, Any]]] = {
    ("first", "boolean"): {"color": "tab:blue", "marker": "o"},
    ("first", "conjunctive"): {"color": "tab:blue", "marker": "o", "linestyle": "--"},
    ("all", "boolean"): {"color": "tab:red", "marker": "s"},
    ("all", "conjunctive"): {"color": "tab:red", "marker": "s", "linestyle": "--"},
}


def draw(made: Report, folder: Path) -> None:
    """Write `advertisements-<part>.svg` for each experiment that was run."""
    overlap = of_kind(OverlapFigures, made.runs)
    if overlap:
        save(_overlap(overlap), folder / f"advertisements-{Part.OVERLAP}.svg")
    pruning = of_kind(PruningFigures, made.runs)
    for part, plot in ((Part.PRUNING, _pruning), (Part.COMBINED, _combined)):
        runs = [each for each in pruning if each.setting.part == part]
        if runs:
            save(plot(runs), folder / f"advertisements-{part}.svg")


def _overlap(runs: Sequence[OverlapFigures]) -> Figure:
    """Figs 6 and 7."""
    figure = Figure(figsize=(10, 7), layout="constrained")
    panels = figure.subplots(2, 2).flat
    rising = sorted(runs, key=lambda each: each.setting.advertisements)
    places = [each.setting.advertisements for each in rising]
    for axes, name in zip(panels, (*SUBSCRIPTION_CLASSES, MIX), strict=True):
        for (scenario, form), style in _STYLES.items():
            times = [each.row(name, scenario, form).milliseconds for each in rising]
            axes.plot(places, times, label=f"{scenario.title()}, {form}", **style)
        axes.set_title(f"{name}: ms for a subscription")
        axes.set_xlabel("advertisements")
        axes.set_ylim(bottom=0)
    figure.axes[0].legend()
    return figure


def _pruning(runs: Sequence[PruningFigures]) -> Figure:
    """Figs 8 to 12, right-hand sides; work in place of their times."""
    figure = Figure(figsize=(10, 9), layout="constrained")
    panels = figure.subplots(3, 3).flat
    by_kind = {each.setting.kind: each for each in runs}
    for axes, kind in zip(panels, KINDS, strict=True):
        curve = by_kind[kind]
        points = curve.points
        places = [curve.proportion(point) for point in points]
        whole = max(points[0].first_work, 1)
        axes.plot(places, [point.overlapping for point in points], label="overlapping")
        axes.plot(places, [curve.memory(point) for point in points], label="memory saved")
        axes.plot(places, [point.candidates for point in points], label="candidates")
        axes.plot(places, [point.first_work / whole for point in points], label="work of First")
        axes.axvline(curve.proportion(curve.cut_off), color="tab:grey", linestyle=":")
        axes.set_title(kind)
        axes.set_ylim(0, 1.8)
    for axes in figure.axes[6:]:
        axes.set_xlabel("share of the prunings")
    handles, names = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=len(names))
    return figure


def _combined(runs: Sequence[PruningFigures]) -> Figure:
    """Figs 13 and 14; work in place of their times."""
    figure = Figure(figsize=(10, 7), layout="constrained")
    panels = figure.subplots(2, 2).flat
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
        for each in rising:
            share = each.setting.subscription_pruning
            axes.plot(
                [each.memory(point) for point in each.points],
                [getattr(point, name) for point in each.points],
                color=(share, 0.2, 1 - share),
                label=f"{share:.0%}",
            )
        axes.set_title(title)
        axes.set_xlabel("share of the advertisements' associations removed")
        axes.set_ylim(bottom=0)
    figure.axes[0].legend(title="subscription prunings", fontsize="x-small", ncols=2)
    return figure
