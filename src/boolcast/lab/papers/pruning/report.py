"""Running the experiments on pruning on Spark, and showing them as tables, JSON and Parquet."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import msgspec
from rich.console import Console

from boolcast.cli.input.spark import local_spark
from boolcast.cli.output.tables import number, plain_table
from boolcast.cli.output.writing import write
from boolcast.lab.papers.output import Reproduction, Rows
from boolcast.lab.papers.pruning.checks import FIVE_BROKERS, ONE_BROKER, Published
from boolcast.lab.papers.pruning.curves import Curve, P, Setting
from boolcast.lab.papers.pruning.run import (
    FIGURES,
    Chunk,
    ChunkFigures,
    Part,
    Report,
    chunks,
    report,
    run,
)
from boolcast.lab.papers.reproduction import Runner
from boolcast.lab.papers.spark_runner import by_spark

_BUMP: Final = 0.3
"""Up to this share of all prunings the paper sees more candidates of class 2 (P1-X5, check 6)."""


def _write_tables(made: Report, console: Console) -> None:
    table = plain_table(
        "at the cut-off; in brackets what was published",
        ["", "class"],
        ["subscribed", "prunings", "predicates", "more events", "at the end"],
        ["work", "counting (µs)", "saved", "access (µs)"],
    )
    for curve in made.tables:
        whole, at = curve.points[0], curve.cut_off
        table.add_row(
            *_cells(Part.X5, curve, ONE_BROKER),
            f"-{1 - at.work / whole.work:.0%}",
            *_time(curve, ONE_BROKER),
            f"{number(whole.access_microseconds)} → {number(at.access_microseconds)}",
        )
    for network in made.networks:
        table.add_row(
            *_cells(Part.X3, network, FIVE_BROKERS), "", *_time(network, FIVE_BROKERS), ""
        )
    console.print(table)
    for curve in made.tables:
        if curve.setting == "2":
            early = [each for each in curve.points if curve.proportion(each) <= _BUMP]
            candidates = ", ".join(f"{each.candidates:,.1f}" for each in early)
            write(f"candidates an event, class 2, up to {_BUMP} of all prunings: {candidates}")


def _cells(part: Part, curve: Curve[P], published: Mapping[Setting, Published]) -> Iterable[str]:
    at, paper = curve.cut_off, published[curve.setting]
    return (
        part,
        curve.setting,
        f"{curve.subscriptions:,}",
        f"{curve.proportion(at):.3g}",
        f"-{curve.relief(at):.2f} ({paper.relief:.2f})",
        f"{curve.growth(at):.1%} ({paper.growth:.1%})",
        f"{curve.growth(curve.points[-1]):.0%}",
    )


def _time(curve: Curve[P], published: Mapping[Setting, Published]) -> tuple[str, str]:
    whole, at = curve.points[0].counting_microseconds, curve.cut_off.counting_microseconds
    saving = curve.saving(curve.cut_off)
    paper = published[curve.setting].saving
    return f"{number(whole)} → {number(at)}", f"{saving or 0.0:.0%} ({paper:.0%})"


def _rows(made: Report) -> dict[str, Rows]:
    return {"x5": _points(made.tables), "x3": _points(made.networks)}


def _points(curves: Iterable[Curve[P]]) -> Rows:
    return [
        {
            "class": curve.setting,
            "subscriptions": curve.subscriptions,
            "events": curve.events,
            "proportion": curve.proportion(point),
            "relief": curve.relief(point),
            "growth": curve.growth(point),
            "is_cut_off": point is curve.cut_off,
            **msgspec.structs.asdict(point),
        }
        for curve in curves
        for point in curve.points
    ]


def _runner(cores: int | None, folder: Path) -> Runner[Chunk, ChunkFigures]:
    return by_spark(local_spark(cores, "boolcast reproduce pruning"), run, FIGURES, folder)


REPRODUCTION: Final = Reproduction(
    parts=Part,
    settings=chunks,
    runner=_runner,
    figures=FIGURES,
    report=report,
    tables=_write_tables,
    rows=_rows,
    plots="boolcast.lab.papers.pruning.plots",
)
