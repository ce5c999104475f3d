"""The reproduction of P2: its runs, and their figures as tables and as rows for Parquet."""

from typing import TYPE_CHECKING, Final

import msgspec
from rich.console import Console
from rich.table import Table

from boolcast.cli.output.tables import number, of_kind, plain_table
from boolcast.lab.papers.diagrams.checks import checks
from boolcast.lab.papers.diagrams.imt import ImtFigures
from boolcast.lab.papers.diagrams.insertion import InsertionFigures
from boolcast.lab.papers.diagrams.run import EXPERIMENTS, FIGURES, RunFigures, run
from boolcast.lab.papers.diagrams.tables import TableFigures
from boolcast.lab.papers.reproduction import PaperReport, Reproduction, Rows, checked
from boolcast.lab.papers.spark_runner import on_local_spark

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DiagramReport = PaperReport[RunFigures]


def _write_tables(made: DiagramReport, console: Console) -> None:
    tables = of_kind(TableFigures, made.runs)
    if tables:
        console.print(_size_table(tables))
    insertions = of_kind(InsertionFigures, made.runs)
    if insertions:
        console.print(_insertion_table(insertions))
    for curve in of_kind(ImtFigures, made.runs):
        console.print(_imt_table(curve))


def _size_table(runs: list[TableFigures]) -> Table:
    table = plain_table(
        "What a method leaves, and what an event takes",
        ["set", "order", "method"],
        ["entries", "diagrams", "nodes", "µs", "scan µs", "times"],
        ["looks", "scan's", "times", "in vain"],
    )
    for each in sorted(runs, key=lambda run: (run.setting.set, run.setting.shuffle)):
        for row in each.methods:
            order = f"random {each.setting.shuffle}" if each.setting.shuffle else "chosen"
            cells = [each.setting.set, order, row.method]
            cells += [f"{row.entries:,}", f"{row.diagrams:,}", f"{row.nodes:,}"]
            if row.microseconds and row.scan_microseconds and row.visited and row.scanned:
                cells += [number(row.microseconds), number(row.scan_microseconds)]
                cells += [f"{row.scan_microseconds / row.microseconds:,.0f}"]
                cells += [number(row.visited), number(row.scanned)]
                cells += [f"{row.scanned / row.visited:.1f}", f"{row.in_vain / row.passing:.2%}"]
            table.add_row(*cells)
    table.caption = "looks: predicates and nodes that an event makes the engine look at"
    return table


def _insertion_table(runs: list[InsertionFigures]) -> Table:
    table = plain_table(
        "An insertion with its covering test, µs on average of the last step",
        ["set", "what", "by"],
        ["µs", "diagrams evaluated"],
    )
    for each in sorted(runs, key=lambda run: run.setting.set):
        last = each.points[-1]
        for what, times in (
            ("find implications", last.predicates),
            ("evaluate diagrams", last.diagrams),
            ("put it in", last.insertion),
        ):
            for by, microseconds in times.items():
                evaluated = dict(last.evaluated).get(by)  # type: ignore[arg-type]
                shown = "" if evaluated is None else f"{evaluated:,.0f}"
                table.add_row(each.setting.set, what, by, number(microseconds), shown)
    return table


def _imt_table(curve: ImtFigures) -> Table:
    known = "with" if curve.setting.advertised else "without"
    table = plain_table(
        f"Set {curve.setting.set}, {curve.setting.subscriptions:,} subscriptions, {known} "
        "advertisements",
        ["threshold"],
        ["entries", "mergers", "events in vain", "false matches", "expected"],
    )
    for point in curve.points:
        table.add_row(
            f"{point.threshold:g}",
            f"{point.entries:,}",
            f"{point.mergers:,}",
            f"{point.share_in_vain:.2%}",
            f"{point.false:,}",
            f"{point.expected:,.1f}",
        )
    return table


def _plots(made: DiagramReport) -> "dict[str, Figure]":
    from boolcast.lab.papers.diagrams.plots import draw  # noqa: PLC0415 - matplotlib

    return draw(made)


def _rows(made: DiagramReport) -> dict[str, Rows]:
    tables: Rows = [
        {
            "set": each.setting.set,
            "shuffle": each.setting.shuffle,
            **msgspec.structs.asdict(row),
        }
        for each in of_kind(TableFigures, made.runs)
        for row in each.methods
    ]
    insertions: Rows = [
        {"set": each.setting.set, **msgspec.to_builtins(point)}
        for each in of_kind(InsertionFigures, made.runs)
        for point in each.points
    ]
    curves: Rows = [
        {"advertised": each.setting.advertised, **msgspec.structs.asdict(point)}
        for each in of_kind(ImtFigures, made.runs)
        for point in each.points
    ]
    return {"tables": tables, "insertion": insertions, "imt": curves}


REPRODUCTION: Final = Reproduction(
    paper="diagrams",
    experiments=EXPERIMENTS,
    runner=on_local_spark("mbd", run, FIGURES),
    figures=FIGURES,
    report=checked(checks),
    tables=_write_tables,
    rows=_rows,
    plots=_plots,
)
