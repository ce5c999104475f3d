"""Running the experiments on pruning on Spark, and showing them as tables, JSON and Parquet."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from boolcast.cli.output import json_line, write, write_error, write_json
from boolcast.cli.progress import shares
from boolcast.cli.reproduce_output import can_draw, made_folder, write_checks
from boolcast.cli.spark import spark_session
from boolcast.cli.tables import WIDTH, QuietConsole, number, plain_table
from boolcast.experiments.pruning import Curve, P, Setting
from boolcast.experiments.pruning_checks import FIVE_BROKERS, ONE_BROKER, Published
from boolcast.experiments.pruning_run import Part, Report, chunks, report, reproduce
from boolcast.experiments.spread import spread

_BUMP: Final = 0.3
"""Up to this share of all prunings the paper sees more candidates of class 2 (P1-X5, check 6)."""


def show(
    parts: list[Part],
    *,
    scale: float,
    seed: int,
    output: str | None,
    cores: int | None,
    as_json: bool,
) -> bool:
    """Run the experiments and write; False if a check does not hold."""
    master = None if cores is None else f"local[{cores}]"
    with made_folder(output) as folder, _place(folder) as place:
        with (
            shares("reproducing") as progress,
            spark_session(master, "boolcast reproduce pruning") as spark,
        ):
            chosen = chunks(parts, scale=scale, seed=seed)
            figures = reproduce(chosen, partial(spread, spark), place, tell=progress)
        made = report(figures, scale=scale, seed=seed)
        if folder is not None:
            _write_figures(made, folder)
            _draw(made, folder)
    if as_json:
        write_json(made)
    else:
        _write_tables(made)
        if output is not None:
            write_error(f"figures: {output}")
    return all(check.holds for check in made.checks)


@contextmanager
def _place(folder: Path | None) -> Iterator[Path]:
    """Where runs are kept: in the folder, or for as long as the command runs."""
    if folder is not None:
        yield folder
        return
    with TemporaryDirectory(prefix="boolcast-pruning-") as place:
        yield Path(place)


def _write_tables(made: Report) -> None:
    console = QuietConsole(highlight=False)
    console.width = max(console.width, WIDTH)
    table = plain_table(
        "at the cut-off; in brackets what was published",
        ["", "class"],
        ["subscribed", "prunings", "predicates", "more events", "at the end"],
        ["work", "counting (µs)", "saved", "access (µs)"],
    )
    for curve in made.tables:
        whole, at = curve.points[0], curve.cut_off
        table.add_row(
            *_row(Part.X5, curve, ONE_BROKER),
            f"-{1 - at.work / whole.work:.0%}",
            *_time(curve, ONE_BROKER),
            f"{number(whole.access_microseconds)} → {number(at.access_microseconds)}",
        )
    for network in made.networks:
        table.add_row(*_row(Part.X3, network, FIVE_BROKERS), "", *_time(network, FIVE_BROKERS), "")
    console.print(table)
    for curve in made.tables:
        if curve.setting == "2":
            early = [each for each in curve.points if curve.proportion(each) <= _BUMP]
            candidates = ", ".join(f"{each.candidates:,.1f}" for each in early)
            write(f"candidates an event, class 2, up to {_BUMP} of all prunings: {candidates}")
    write_checks(made.checks)


def _row(part: Part, curve: Curve[P], published: Mapping[Setting, Published]) -> Iterable[str]:
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


def _write_figures(made: Report, folder: Path) -> None:
    (folder / "figures.json").write_bytes(json_line(made))
    for name, rows in (("x5", _points(made.tables)), ("x3", _points(made.networks))):
        if rows:
            pq.write_table(pa.Table.from_pylist(rows), folder / f"{name}.parquet")


def _points(curves: Iterable[Curve[P]]) -> list[dict[str, object]]:
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


def _draw(made: Report, folder: Path) -> None:
    if can_draw():
        from boolcast.cli import pruning_plots  # noqa: PLC0415 - an extra, and a second

        pruning_plots.draw(made, folder)
