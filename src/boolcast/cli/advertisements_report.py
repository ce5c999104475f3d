"""Running the experiments on advertisements, and showing them as tables, JSON and Parquet."""

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from rich.table import Table

from boolcast.cli.output import json_line, write_error, write_json
from boolcast.cli.progress import shares
from boolcast.cli.reproduce_output import can_draw, write_checks
from boolcast.cli.spark import spark_session
from boolcast.cli.tables import WIDTH, QuietConsole, number, of_kind, plain_table
from boolcast.errors import FileError
from boolcast.experiments.advertisement_jobs import reproduce
from boolcast.experiments.advertisement_overlap import OverlapFigures
from boolcast.experiments.advertisement_pruning import PruningFigures
from boolcast.experiments.advertisements import Part, Report, report, settings


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
    chosen = settings(parts, scale=scale, seed=seed)
    master = "local[*]" if cores is None else f"local[{cores}]"
    try:
        with ExitStack() as stack:
            place = output or stack.enter_context(TemporaryDirectory(prefix="boolcast-"))
            folder = Path(place)
            folder.mkdir(parents=True, exist_ok=True)
            tell = stack.enter_context(shares("reproducing"))
            start = partial(spark_session, master, "boolcast reproduce advertisements")
            made = report(reproduce(start, chosen, folder, tell), scale=scale, seed=seed)
        if output is not None:
            _write_figures(made, folder)
            _draw(made, folder)
    except OSError as error:
        raise FileError(f"cannot write: {error.strerror}", path=str(output)) from None
    if as_json:
        write_json(made)
    else:
        _write_tables(made)
        if output is not None:
            write_error(f"figures: {output}")
    return all(check.holds for check in made.checks)


def _write_tables(made: Report) -> None:
    console = QuietConsole(highlight=False)
    console.width = max(console.width, WIDTH)
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
    write_checks(made.checks)


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


def _write_figures(made: Report, folder: Path) -> None:
    (folder / "figures.json").write_bytes(json_line(made))
    overlaps = [
        {"advertisements": each.setting.advertisements, **msgspec.structs.asdict(row)}
        for each in of_kind(OverlapFigures, made.runs)
        for row in each.rows
    ]
    points = [
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
    for rows, name in ((overlaps, "overlaps"), (points, "prunings")):
        if rows:
            pq.write_table(pa.Table.from_pylist(rows), folder / f"{name}.parquet")


def _draw(made: Report, folder: Path) -> None:
    if can_draw():
        from boolcast.cli import advertisements_plots  # noqa: PLC0415 - an extra, and a second

        advertisements_plots.draw(made, folder)
