"""The reproduction of P4: its runs, and their figures as a table and as rows for Parquet."""

from typing import TYPE_CHECKING, Final

from rich.console import Console

from boolcast.cli.output.tables import number, plain_table
from boolcast.lab.papers.reproduction import PaperReport, Reproduction, Rows, checked
from boolcast.lab.papers.runs import in_processes
from boolcast.lab.papers.unsubscription.checks import checks
from boolcast.lab.papers.unsubscription.run import EXPERIMENTS, FIGURES
from boolcast.lab.papers.unsubscription.simulated_run import RunFigures, run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UnsubscriptionReport = PaperReport[RunFigures]


def _write_tables(made: UnsubscriptionReport, console: Console) -> None:
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


def _order(figures: RunFigures) -> tuple[object, ...]:
    setting = figures.setting
    load = setting.load
    return setting.part, load.placement, load.degree, load.unsubscriptions, -setting.threshold


def _plots(made: UnsubscriptionReport) -> "dict[str, Figure]":
    from boolcast.lab.papers.unsubscription.plots import draw  # noqa: PLC0415 - matplotlib

    return draw(made)


def _rows(made: UnsubscriptionReport) -> dict[str, Rows]:
    brokers: Rows = []
    curves: Rows = []
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
    return {"brokers": brokers, "curves": curves}


REPRODUCTION: Final = Reproduction(
    paper="unsubscription",
    experiments=EXPERIMENTS,
    runner=lambda cores, folder: in_processes(run, cores),
    figures=FIGURES,
    report=checked(checks),
    tables=_write_tables,
    rows=_rows,
    plots=_plots,
)
