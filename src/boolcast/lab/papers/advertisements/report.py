"""The reproduction of P3: its runs, and their figures as tables and as rows for Parquet."""

from typing import TYPE_CHECKING, Final

import msgspec
from rich.console import Console
from rich.table import Table

from boolcast.cli.output.tables import number, of_kind, plain_table
from boolcast.lab.papers.advertisements.checks import checks
from boolcast.lab.papers.advertisements.overlap import OverlapFigures
from boolcast.lab.papers.advertisements.pruning import PruningFigures
from boolcast.lab.papers.advertisements.run import EXPERIMENTS, FIGURES, RunFigures, run
from boolcast.lab.papers.reproduction import PaperReport, Reproduction, Rows, checked
from boolcast.lab.papers.spark_runner import on_local_spark

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AdvertisementReport = PaperReport[RunFigures]


def _write_tables(made: AdvertisementReport, console: Console) -> None:
    overlap = of_kind(OverlapFigures, made.runs)
    if overlap:
        console.print(_overlap_table(overlap))
    for part, title in (
        ("pruning", "Pruned to the cut-off"),
        ("combined", "Pruned to the end, after subscriptions"),
    ):
        runs = [each for each in of_kind(PruningFigures, made.runs) if each.setting.part == part]
        if runs:
            console.print(_pruning_table(title, runs, to_the_end=part == "combined"))


def _overlap_table(runs: list[OverlapFigures]) -> Table:
    table = plain_table(
        "Subscriptions against advertisements; ms and associations for a subscription",
        ["asked", "scenario"],
        ["advertisements", "Boolean ms", "conjunctive ms", "times"],
        ["associations", "conjunctive", "overlapping", "candidates"],
    )
    for each in sorted(runs, key=lambda run: run.setting.advertisements):
        for row in each.rows:
            if row.form == "boolean":
                other = each.row(row.subscriptions, row.scenario, "conjunctive")
                is_all = row.scenario == "all"
                table.add_row(
                    row.subscriptions,
                    row.scenario,
                    f"{each.setting.advertisements:,}",
                    number(row.milliseconds),
                    number(other.milliseconds),
                    f"{other.milliseconds / row.milliseconds:.2f}",
                    number(row.associations),
                    number(other.associations),
                    f"{row.found:.3f}" if is_all else "",
                    f"{row.candidates:.2f}" if is_all else "",
                )
    return table


def _pruning_table(title: str, runs: list[PruningFigures], *, to_the_end: bool) -> Table:
    table = plain_table(
        f"{title}: before → then",
        ["pruned"],
        ["SP", "AP", "saved", "overlapping", "candidates"],
        ["First work", "First ms", "All work", "All ms"],
    )
    for each in sorted(runs, key=lambda run: (run.setting.subscription_pruning, run.setting.kind)):
        before = each.points[0]
        point = each.points[-1] if to_the_end else each.cut_off
        table.add_row(
            each.setting.kind,
            f"{each.setting.subscription_pruning:.0%}",
            f"{each.proportion(point):.2f}",
            f"{each.memory(point):.3f}",
            f"{before.overlapping:.2f} → {point.overlapping:.2f}",
            f"{before.candidates:.2f} → {point.candidates:.2f}",
            f"{number(before.first_work)} → {number(point.first_work)}",
            f"{number(before.first_milliseconds)} → {number(point.first_milliseconds)}",
            f"{number(before.all_work)} → {number(point.all_work)}",
            f"{number(before.all_milliseconds)} → {number(point.all_milliseconds)}",
        )
    table.caption = (
        "SP, AP: prunings of subscriptions and advertisements, of all possible ones; saved: of the "
        "memory for advertisements; work and ms for one of them"
    )
    return table


def _plots(made: AdvertisementReport) -> "dict[str, Figure]":
    from boolcast.lab.papers.advertisements.plots import draw  # noqa: PLC0415 - matplotlib

    return draw(made)


def _rows(made: AdvertisementReport) -> dict[str, Rows]:
    overlaps: Rows = [
        {"advertisements": each.setting.advertisements, **msgspec.structs.asdict(row)}
        for each in of_kind(OverlapFigures, made.runs)
        for row in each.rows
    ]
    points: Rows = [
        {
            "part": each.setting.part,
            "class": each.setting.kind,
            "subscription_pruning": each.setting.subscription_pruning,
            "proportion": each.proportion(point),
            "memory_saved": each.memory(point),
            **msgspec.structs.asdict(point),
        }
        for each in of_kind(PruningFigures, made.runs)
        for point in each.points
    ]
    return {"overlaps": overlaps, "prunings": points}


REPRODUCTION: Final = Reproduction(
    paper="advertisements",
    experiments=EXPERIMENTS,
    runner=on_local_spark("advertisements", run, FIGURES),
    figures=FIGURES,
    report=checked(checks),
    tables=_write_tables,
    rows=_rows,
    plots=_plots,
)
