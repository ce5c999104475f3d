"""Running the experiments on advertisements, and showing them as tables, JSON and Parquet."""

from pathlib import Path
from typing import Final

import msgspec
from rich.console import Console
from rich.table import Table

from boolcast.cli.input.spark import local_spark
from boolcast.cli.output.tables import number, of_kind, plain_table
from boolcast.lab.papers.advertisements.overlap import OverlapFigures
from boolcast.lab.papers.advertisements.pruning import PruningFigures
from boolcast.lab.papers.advertisements.run import (
    FIGURES,
    Part,
    Report,
    RunFigures,
    Setting,
    report,
    run,
    settings,
)
from boolcast.lab.papers.output import Reproduction, Rows
from boolcast.lab.papers.reproduction import Runner
from boolcast.lab.papers.spark_runner import by_spark


def _write_tables(made: Report, console: Console) -> None:
    overlap = of_kind(OverlapFigures, made.runs)
    if overlap:
        console.print(_overlap_table(overlap))
    for part, title in (
        (Part.PRUNING, "Pruned to the cut-off"),
        (Part.COMBINED, "Pruned to the end, after subscriptions"),
    ):
        runs = [each for each in of_kind(PruningFigures, made.runs) if each.setting.part == part]
        if runs:
            console.print(_pruning_table(title, runs, to_the_end=part is Part.COMBINED))


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


def _rows(made: Report) -> dict[str, Rows]:
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


def _runner(cores: int | None, folder: Path) -> Runner[Setting, RunFigures]:
    return by_spark(local_spark(cores, "boolcast reproduce advertisements"), run, FIGURES, folder)


REPRODUCTION: Final = Reproduction(
    parts=Part,
    settings=settings,
    runner=_runner,
    figures=FIGURES,
    report=report,
    tables=_write_tables,
    rows=_rows,
    plots="boolcast.lab.papers.advertisements.plots",
)
