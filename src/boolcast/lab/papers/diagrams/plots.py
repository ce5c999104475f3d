"""The plots of the experiments on decision diagrams, one for each experiment."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from matplotlib.figure import Figure

from boolcast.cli.output.tables import of_kind
from boolcast.lab.papers.diagrams.checks import PAPER_SIZES
from boolcast.lab.papers.diagrams.imt import ImtFigures
from boolcast.lab.papers.diagrams.insertion import METHODS as COVERING_METHODS
from boolcast.lab.papers.diagrams.insertion import InsertionFigures
from boolcast.lab.papers.diagrams.tables import METHODS, TableFigures
from boolcast.lab.papers.plotting import grid_of, legend_below, styles
from boolcast.matching.diagrams.implications import WAYS

if TYPE_CHECKING:
    from boolcast.lab.papers.diagrams.report import DiagramReport

_LOOKS: Final = styles(("scan, A", "scan, B", "diagrams, A", "diagrams, B"))
_KNOWN: Final = styles(("without advertisements", "with advertisements"))


def draw(made: "DiagramReport") -> dict[str, Figure]:
    """A plot for each experiment that was run; orders of attributes have none."""
    found: dict[str, Figure] = {}
    chosen = [each for each in of_kind(TableFigures, made.runs) if not each.setting.shuffle]
    if chosen:
        found["tables"] = _tables(chosen)
    insertions = of_kind(InsertionFigures, made.runs)
    if insertions:
        found["insertion"] = _insertion(insertions)
    curves = of_kind(ImtFigures, made.runs)
    if curves:
        found["imt"] = _imt(curves)
    return found


def _tables(runs: Sequence[TableFigures]) -> Figure:
    """Fig. 12, and Table 2 as predicates and nodes evaluated."""
    figure, (sizes, looks) = grid_of(1, 2, width=10, height=4.4)
    for number, each in enumerate(sorted(runs, key=lambda run: run.setting.set)):
        name = each.setting.set
        shares = [row.entries / each.setting.subscriptions for row in each.methods]
        at = [method + 0.4 * number - 0.2 for method in range(len(METHODS))]
        sizes.bar(at, shares, width=0.35, label=f"set {name}")
        paper = [size / PAPER_SIZES[name][0] for size in PAPER_SIZES[name]]
        sizes.plot(at, paper, "k_", markersize=18, label=None if number else "the paper")
        looks.plot(METHODS, [row.scanned for row in each.methods], **_LOOKS[f"scan, {name}"])  # type: ignore[arg-type]
        visited = [row.visited for row in each.methods]
        looks.plot(METHODS, visited, **_LOOKS[f"diagrams, {name}"])  # type: ignore[arg-type]
    sizes.set_xticks(range(len(METHODS)), METHODS)
    sizes.set_title("Entries left, of all subscriptions")
    looks.set_yscale("log")
    looks.set_title("Predicates and nodes evaluated for an event")
    for axes in (sizes, looks):
        legend_below(axes)
    return figure


def _insertion(runs: Sequence[InsertionFigures]) -> Figure:
    """Fig. 13, with its phases shown separately."""
    figure, panels = grid_of(len(runs), 3, width=11, height=4 * len(runs))
    ways, methods = styles(WAYS, marked=False), styles(COVERING_METHODS, marked=False)
    for number, each in enumerate(sorted(runs, key=lambda run: run.setting.set)):
        find, evaluate, put = row = panels[3 * number : 3 * number + 3]
        at = [point.subscriptions for point in each.points]
        for way in WAYS:
            find.plot(at, [point.predicates[way] for point in each.points], **ways[way])
            put.plot(at, [point.insertion[way] for point in each.points], **ways[way])
        for method in COVERING_METHODS:
            spent = [point.diagrams[method] for point in each.points]
            evaluate.plot(at, spent, **methods[method])
        titles = ("find implications", "evaluate diagrams", "insert")
        for axes, what in zip(row, titles, strict=True):
            axes.set_title(f"Set {each.setting.set}: µs to {what}")
            axes.set_xlabel("subscriptions")
            axes.set_yscale("log")
            legend_below(axes)
    return figure


def _imt(curves: Sequence[ImtFigures]) -> Figure:
    """Figs 14 and 15."""
    figure, (sizes, false) = grid_of(1, 2, width=10, height=4.4)
    for each in sorted(curves, key=lambda curve: curve.setting.advertised):
        known = "with advertisements" if each.setting.advertised else "without advertisements"
        at = [point.threshold for point in each.points]
        sizes.plot(at, [point.entries for point in each.points], **_KNOWN[known])
        false.plot(at, [100 * point.share_false for point in each.points], **_KNOWN[known])
    sizes.set_title("Entries")
    false.set_title("False matches of mergers, % of all matches")
    for axes in (sizes, false):
        axes.set_xscale("symlog", linthresh=1e-7)
        axes.set_xlabel("threshold (IMT)")
        legend_below(axes)
    return figure
