"""The reproduction of P1: its runs, and their figures as a table and as rows for Parquet."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

import msgspec
from rich.console import Console

from boolcast.cli.output.tables import number, plain_table
from boolcast.cli.output.writing import write
from boolcast.lab.papers.checks import Check
from boolcast.lab.papers.pruning.checks import FIVE_BROKERS, ONE_BROKER, Published, checks
from boolcast.lab.papers.pruning.experiment import Curve, NetworkCurve, P, PruningCurve, Setting
from boolcast.lab.papers.pruning.run import EXPERIMENTS, FIGURES, ChunkFigures, curves, run
from boolcast.lab.papers.reproduction import Reproduction, Rows
from boolcast.lab.papers.spark_runner import on_local_spark

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BUMP: Final = 0.3
"""Up to this share of all prunings, class 2 has more candidates in the paper (P1-X5, check 6)."""


class PruningReport(msgspec.Struct, frozen=True, kw_only=True):
    """All curves, and the checks of the paper's statements against them."""

    scale: float
    seed: int
    tables: list[PruningCurve]
    networks: list[NetworkCurve]
    checks: list[Check]
    processor_seconds: float


def report(runs: list[ChunkFigures], *, scale: float, seed: int) -> PruningReport:
    """The curves of all chunks, with the checks of the experiments among them."""
    tables, networks = curves(runs)
    return PruningReport(
        scale=scale,
        seed=seed,
        tables=tables,
        networks=networks,
        checks=checks(tables, networks),
        processor_seconds=sum(each.processor_seconds for each in runs),
    )


def _write_tables(made: PruningReport, console: Console) -> None:
    table = plain_table(
        "At the cut-off; published figures in brackets",
        ["", "class"],
        ["subscribed", "prunings", "predicates", "more events", "at the end"],
        ["work", "counting (µs)", "saved", "access (µs)"],
    )
    for curve in made.tables:
        whole, at = curve.points[0], curve.cut_off
        table.add_row(
            *_cells("x5", curve, ONE_BROKER),
            f"-{1 - at.work / whole.work:.0%}",
            *_time(curve, ONE_BROKER),
            f"{number(whole.access_microseconds)} → {number(at.access_microseconds)}",
        )
    for network in made.networks:
        table.add_row(*_cells("x3", network, FIVE_BROKERS), "", *_time(network, FIVE_BROKERS), "")
    console.print(table)
    for curve in made.tables:
        if curve.setting == "2":
            early = [each for each in curve.points if curve.proportion(each) <= _BUMP]
            candidates = ", ".join(f"{each.candidates:,.1f}" for each in early)
            write(f"candidates an event, class 2, up to {_BUMP} of all prunings: {candidates}")


def _cells(part: str, curve: Curve[P], published: Mapping[Setting, Published]) -> Iterable[str]:
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


def _plots(made: PruningReport) -> "dict[str, Figure]":
    from boolcast.lab.papers.pruning.plots import draw  # noqa: PLC0415 - matplotlib

    return draw(made)


def _rows(made: PruningReport) -> dict[str, Rows]:
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


REPRODUCTION: Final = Reproduction(
    paper="pruning",
    experiments=EXPERIMENTS,
    runner=on_local_spark("pruning", run, FIGURES),
    figures=FIGURES,
    report=report,
    tables=_write_tables,
    rows=_rows,
    plots=_plots,
)
