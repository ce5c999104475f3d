"""Running the experiments on unsubscription, and showing them as tables, JSON and Parquet."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from boolcast.cli.output import json_line, write_error, write_json
from boolcast.cli.progress import shares
from boolcast.cli.reproduce_output import can_draw, made_folder, write_checks
from boolcast.cli.tables import WIDTH, QuietConsole, number, plain_table
from boolcast.cli.termination import ended_by_sigterm
from boolcast.experiments.unsubscription import Part, Report, report, reproduce, settings
from boolcast.experiments.unsubscription_run import RunFigures


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
    with made_folder(output) as folder:
        with ended_by_sigterm(), shares("reproducing") as progress:
            chosen = settings(parts, scale=scale, seed=seed)
            runs = reproduce(chosen, cores=cores, folder=folder, tell=progress)
        made = report(runs, scale=scale, seed=seed)
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


def _write_tables(made: Report) -> None:
    console = QuietConsole(highlight=False)
    console.width = max(console.width, WIDTH)
    runs = plain_table(
        "",
        ["", "policy"],
        ["subscribed", "degree", "removals", "θ"],
        ["delay (s)", "most", "queue", "triggered", "table"],
    )
    for each in sorted(made.runs, key=_order):
        load = each.setting.load
        runs.add_row(
            each.setting.part,
            each.setting.policy + ("" if load.placement == "scattered" else ", clustered"),
            f"{load.subscriptions:,}",
            f"{load.degree:,}",
            str(load.unsubscriptions),
            f"{each.setting.threshold:g}",
            number(each.delay_after),
            number(each.peak_delay),
            f"{each.peak_queue:,}",
            f"{each.triggered:,}",
            f"{each.mean_table:,.0f}",
        )
    console.print(runs)
    write_checks(made.checks)


def _order(figures: RunFigures) -> tuple[object, ...]:
    setting = figures.setting
    load = setting.load
    return setting.part, load.placement, load.degree, load.unsubscriptions, -setting.threshold


def _write_figures(made: Report, folder: Path) -> None:
    (folder / "figures.json").write_bytes(json_line(made))
    brokers: list[dict[str, object]] = []
    curves: list[dict[str, object]] = []
    for each in made.runs:
        setting = each.setting
        key = {
            "part": setting.part,
            "policy": setting.policy,
            "degree": setting.load.degree,
            "removals": setting.load.unsubscriptions,
            "threshold": setting.threshold,
            "placement": setting.load.placement,
        }
        brokers += [
            {**key, **{name: getattr(row, name) for name in row.__struct_fields__}}
            for row in each.core
        ]
        curve = each.curve
        curves += [
            {**key, "seconds": seconds, "delay": delay, "queue": queue}
            for seconds, delay, queue in zip(curve.seconds, curve.delay, curve.queue, strict=True)
        ]
    pq.write_table(pa.Table.from_pylist(brokers), folder / "brokers.parquet")
    pq.write_table(pa.Table.from_pylist(curves), folder / "curves.parquet")


def _draw(made: Report, folder: Path) -> None:
    if can_draw():
        from boolcast.cli import reproduce_plots  # noqa: PLC0415 - an extra, and a second

        reproduce_plots.draw(made, folder)
