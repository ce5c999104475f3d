"""The plots of the experiments on decision diagrams, one file for each experiment."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from boolcast.cli.pictures import save
from boolcast.cli.tables import of_kind
from boolcast.experiments.mbd import Report
from boolcast.experiments.mbd_checks import PAPER_SIZES
from boolcast.experiments.mbd_imt import ImtFigures
from boolcast.experiments.mbd_insertion import InsertionFigures
from boolcast.experiments.mbd_tables import METHODS, TableFigures


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
    """Fig. 13, both phases apart."""
    figure = Figure(figsize=(10, 7), layout="constrained")
    names = sorted({each.setting.set for each in runs})
    panels = figure.subplots(len(names), 2, squeeze=False)
    for (predicates, diagrams), name in zip(panels, names, strict=True):
        for each in (run for run in runs if run.setting.set == name):
            label = f"{each.setting.method}, {each.setting.way}"
            places = [point.subscriptions for point in each.points]
            spent = [point.predicate_microseconds for point in each.points]
            predicates.plot(places, spent, label=label)
            spent = [point.diagram_microseconds for point in each.points]
            diagrams.plot(places, spent, label=label)
        predicates.set_title(f"Set {name}: µs for the predicates of an insertion")
        diagrams.set_title(f"Set {name}: µs for its diagrams")
        for axes in (predicates, diagrams):
            axes.set_xlabel("subscriptions")
            axes.set_yscale("log")
    figure.axes[0].legend()
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
