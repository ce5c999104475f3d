"""The plots of the experiments on decision diagrams, one file for each experiment."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from boolcast.cli.output.tables import of_kind
from boolcast.lab.papers.diagrams.checks import PAPER_SIZES
from boolcast.lab.papers.diagrams.imt import ImtFigures
from boolcast.lab.papers.diagrams.insertion import METHODS as COVERING_METHODS
from boolcast.lab.papers.diagrams.insertion import InsertionFigures
from boolcast.lab.papers.diagrams.run import Report
from boolcast.lab.papers.diagrams.tables import METHODS, TableFigures
from boolcast.lab.papers.pictures import save
from boolcast.matching.diagrams.implications import WAYS


def draw(made: Report, folder: Path) -> None:
    """Write `mbd-<part>.svg` for each experiment that was run."""
    chosen = [each for each in of_kind(TableFigures, made.runs) if not each.setting.shuffle]
    if chosen:
        save(_tables(chosen), folder / "mbd-tables.svg")
    insertions = of_kind(InsertionFigures, made.runs)
    if insertions:
        save(_insertion(insertions), folder / "mbd-insertion.svg")
    curves = of_kind(ImtFigures, made.runs)
    if curves:
        save(_imt(curves), folder / "mbd-imt.svg")


def _tables(runs: Sequence[TableFigures]) -> Figure:
    """Fig. 12, and Table 2 as looks."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    sizes, looks = figure.subplots(1, 2)
    for place, each in enumerate(sorted(runs, key=lambda run: run.setting.set)):
        name = each.setting.set
        shares = [row.entries / each.setting.subscriptions for row in each.methods]
        places = [number + 0.4 * place - 0.2 for number in range(len(METHODS))]
        sizes.bar(places, shares, width=0.35, label=f"set {name}")
        paper = [size / PAPER_SIZES[name][0] for size in PAPER_SIZES[name]]
        sizes.plot(places, paper, "k_", markersize=18, label=None if place else "the paper")
        looks.plot(METHODS, [row.visited for row in each.methods], "o-", label=f"diagrams, {name}")
        looks.plot(METHODS, [row.scanned for row in each.methods], "s--", label=f"scan, {name}")
    sizes.set_xticks(range(len(METHODS)), METHODS)
    sizes.set_title("Entries left, of all subscriptions")
    looks.set_yscale("log")
    looks.set_title("Predicates and nodes looked at for an event")
    for axes in (sizes, looks):
        axes.legend()
    return figure


def _insertion(runs: Sequence[InsertionFigures]) -> Figure:
    """Fig. 13, its phases apart."""
    figure = Figure(figsize=(11, 3.5 * len(runs)), layout="constrained")
    panels = figure.subplots(len(runs), 3, squeeze=False)
    for row, each in zip(panels, sorted(runs, key=lambda run: run.setting.set), strict=True):
        places = [point.subscriptions for point in each.points]
        find, evaluate, put = row
        for way in WAYS:
            find.plot(places, [point.predicates[way] for point in each.points], label=way)
            put.plot(places, [point.insertion[way] for point in each.points], label=way)
        for method in COVERING_METHODS:
            spent = [point.diagrams[method] for point in each.points]
            evaluate.plot(places, spent, label=method)
        titles = ("find implications", "evaluate diagrams", "put it in")
        for axes, what in zip(row, titles, strict=True):
            axes.set_title(f"Set {each.setting.set}: µs to {what}")
            axes.set_xlabel("subscriptions")
            axes.set_yscale("log")
            axes.legend()
    return figure


def _imt(curves: Sequence[ImtFigures]) -> Figure:
    """Figs 14 and 15."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    sizes, vain = figure.subplots(1, 2)
    for each in curves:
        known = "with" if each.setting.advertised else "without"
        style = "--" if each.setting.advertised else "-"
        places = [point.threshold for point in each.points]
        for axes, values in (
            (sizes, [point.entries for point in each.points]),
            (vain, [100 * point.share_false for point in each.points]),
        ):
            axes.plot(places, values, f"o{style}", label=f"{known} advertisements")
    sizes.set_title("Entries")
    vain.set_title("False matches of mergers, % of all matches")
    for axes in (sizes, vain):
        axes.set_xscale("symlog", linthresh=1e-7)
        axes.set_xlabel("threshold (IMT)")
    sizes.legend()
    return figure
