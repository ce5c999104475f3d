"""Runs simulations, and shows them as tables, JSON, Parquet or a picture."""

import os
import shlex
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import typer
from msgspec.structs import replace

from boolcast.cli.output.endings import ExitCode, ended_by_sigterm
from boolcast.cli.output.progress import shares
from boolcast.cli.output.tables import QuietConsole, number, plain_table
from boolcast.cli.output.writing import counted, write, write_error, write_json
from boolcast.errors import FileError
from boolcast.simulation.judging.metrics import Metrics, Overlaps, Summary
from boolcast.simulation.runs import Outcome, Run, outcomes
from boolcast.simulation.scenarios.plans import Links, Plan, draw

_SLICES = 200
"""How often a run shows its progress and samples its metrics."""

_SHOWN = 5
"""Violations to show."""


class SimulationReport(msgspec.Struct, frozen=True):
    """A run and its totals."""

    outcome: Outcome
    summary: Summary


def show(plan: Plan, *, output: str | None, plot: str | None, as_json: bool) -> bool:
    """Run a plan and write its report; False if a delivery was wrong."""
    with shares("simulating") as progress:
        progress(0.0, "setting up")
        run = Run(plan, looks=_SLICES)
        outcome = run.outcome(slices=_SLICES, tell=progress)
    assert run.metrics is not None
    report = SimulationReport(outcome, run.metrics.summary())
    if output is not None:
        _write_parquet(run.metrics, Path(output))
    if plot is not None:
        _draw(run.metrics, outcome, plot)
    if as_json:
        write_json(report)
        return outcome.is_right
    _write_table(report)
    _write_verdict(outcome)
    for title, written in (("metrics", output), ("picture", plot)):
        if written is not None:
            write_error(f"{title}: {written}")
    return outcome.is_right


def show_many(plan: Plan, seeds: range, *, cores: int | None, as_json: bool) -> bool:
    """Run a plan with many seeds, up to the first that fails; False if one does.

    Ctrl-C ends it with the tally of the seeds done so far.
    """
    left_out: Links = ()
    done: list[Outcome] = []
    try:
        # A wrong plan shows before processes start.
        left_out = draw(replace(plan, seed=seeds[0])).left_out
        plans = [replace(plan, seed=seed) for seed in seeds]
        found = outcomes(plans, cores=min(cores or os.cpu_count() or 1, len(plans)))
        with ended_by_sigterm(), shares("seeds") as progress, closing(found):
            for outcome in found:
                done.append(outcome)
                progress(len(done) / len(plans), f"seed {outcome.seed}")
                if not outcome.is_right:
                    break
    except KeyboardInterrupt:
        _write_tally(done, left_out, as_json=as_json, is_interrupted=True)
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    _write_tally(done, left_out, as_json=as_json, is_interrupted=False)
    last = done[-1]
    if as_json:
        return last.is_right
    if last.is_right:
        write("✓ all expected deliveries arrived")
        return True
    write(f"seed {last.seed} fails ({last.brokers} brokers, {last.policy})")
    _write_verdict(last)
    write(f"again: {_command(replace(plan, seed=last.seed))}")
    return False


def _write_tally(
    done: list[Outcome], left_out: Links, *, as_json: bool, is_interrupted: bool
) -> None:
    if as_json:
        failing = next((each for each in done if not each.is_right), None)
        tally = {"seeds": len(done), "failing": failing, "left_out": left_out}
        write_json({**tally, "interrupted": is_interrupted})
        return
    _write_left_out(left_out)
    verdicts = [each.verdict for each in done if each.verdict is not None]
    settled = sum(each.settled for each in verdicts)
    lost = sum(each.lost for each in verdicts)
    seeds = counted(len(done), "seed")
    write(
        f"{f'interrupted after {seeds}' if is_interrupted else seeds}: "
        f"{counted(sum(each.messages for each in done), 'message')}, "
        f"{counted(sum(each.faults for each in done), 'fault')}, "
        f"{counted(settled, 'expected delivery', 'expected deliveries')}; "
        f"{counted(lost, 'event')} lost in brokers that crashed without their disks"
    )


def _command(plan: Plan) -> str:
    """The command that repeats a run: its seed, and the options that are not the usual ones."""
    usual = Plan(seed=0)
    words = ["boolcast", "simulate", "--seed", str(plan.seed)]
    for given, default in ((plan, usual), (plan.load, usual.load)):
        for name in given.__struct_fields__:
            value = getattr(given, name)
            if name not in {"seed", "load"} and value != getattr(default, name):
                words += [f"--{name.replace('_', '-')}", str(value)]
    return shlex.join(words)


def _write_table(report: SimulationReport) -> None:
    outcome, summary = report.outcome, report.summary
    write(
        f"seed {outcome.seed}: {counted(outcome.brokers, 'broker')}, {outcome.policy}, "
        f"{counted(outcome.faults, 'fault')}, {summary.seconds:,.1f} s of virtual time"
    )
    _write_left_out(outcome.left_out)
    table = plain_table("", ["metric"], ["value"])
    delays, overlaps = summary.deliveries, summary.overlaps
    rows = {
        "deliveries": f"{delays.count:,}",
        "delay, mean / p50 / p99 (s)": " / ".join(
            number(each) for each in (delays.mean, delays.p50, delays.p99)
        ),
        **{f"messages, {kind}": f"{count:,}" for kind, count in summary.messages.items()},
        "packets and bytes on links": f"{summary.packets:,} / {summary.bytes:,}",
        "longest queue": f"{summary.longest_queue:,}",
        "largest table": f"{summary.largest_table:,}",
        "triggered subscriptions": f"{summary.triggered:,}",
        "events that crossed a link": f"{summary.forwards:,}",
        "  of those, wanted by no client": f"{summary.false_positives:,}",
        "predicates pruned or replaced": f"{summary.pruned:,}",
        "entries merged into others": f"{summary.merged:,}",
        "pruned from advertisements": f"{summary.pruned_from_advertisements:,}",
        "overlaps asked for / found": f"{overlaps.asked:,} / {overlaps.found:,}",
        "  proven / refuted by the index": _false_overlaps(overlaps),
    }
    for name, figure in rows.items():
        table.add_row(name, figure)
    QuietConsole(highlight=False).print(table)
    for warning, brokers in summary.warnings.items():
        write(f"! {', '.join(brokers)}: {warning}")


def _false_overlaps(overlaps: Overlaps) -> str:
    if overlaps.false_share is None:
        return "–"
    proven = overlaps.checked - overlaps.refuted
    return f"{proven:,} / {overlaps.refuted:,} ({overlaps.false_share:.1%})"


def _write_left_out(links: Links) -> None:
    if links:
        names = ", ".join(f"{left}-{right}" for left, right in links)
        write(f"without {counted(len(links), 'link')} that would close a cycle: {names}")


def _write_verdict(outcome: Outcome) -> None:
    verdict = outcome.verdict
    if outcome.is_right and verdict is not None:
        checked = (
            ""
            if verdict.evaluated == verdict.publications
            else f" (checked {verdict.evaluated:,} of the {counted(verdict.publications, 'event')})"
        )
        expected = counted(verdict.settled, "expected delivery", "expected deliveries")
        all_of_them = "the" if verdict.settled == 1 else "all"
        write(
            f"✓ {all_of_them} {expected} arrived{checked}; "
            f"{verdict.repeats:,} arrived again after a crash, "
            f"{counted(verdict.lost, 'event')} lost in a broker that crashed without its disk"
        )
    problems = outcome.problems()
    for problem in problems[:_SHOWN]:
        write(f"✗ {problem}")
    count = len(problems) if verdict is None else max(verdict.count, len(problems))
    if count > _SHOWN:
        write(f"✗ and {count - _SHOWN:,} more")
    write(f"trace {outcome.trace}")


def _write_parquet(metrics: Metrics, folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in metrics.tables().items():
            pq.write_table(table, folder / f"{name}.parquet")
    except OSError as error:
        raise FileError(f"cannot write: {error.strerror}", path=str(folder)) from None


def _draw(metrics: Metrics, outcome: Outcome, path: str) -> None:
    """Draw queues, tables, delays and traffic over virtual time."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra, and a second

    tables = metrics.tables()
    figure = Figure(figsize=(12, 8), layout="constrained")
    figure.suptitle(f"seed {outcome.seed}, {outcome.policy}")
    (queues, sizes), (delays, traffic) = figure.subplots(2, 2)
    for axes, column, title in (
        (queues, "queue", "jobs that wait at a broker"),
        (sizes, "subscriptions", "subscriptions in a broker's table"),
    ):
        times, most, mean = _over_time(tables["brokers"], column)
        axes.plot(times, most, label="most")
        axes.plot(times, mean, label="mean")
        axes.set_title(title)
        axes.legend()
    times, least, worst = _delays_over_time(tables["delays"])
    delays.plot(times, worst, label="p99")
    delays.plot(times, least, label="p50")
    delays.set_title("delay of deliveries (s)")
    delays.legend()
    for column in ("messages", "events"):
        times, most, mean = _over_time(tables["links"], column)
        traffic.plot(times, most, label=f"{column}, busiest link")
    traffic.set_title("sent over a link since the beginning")
    traffic.legend()
    for axes in (queues, sizes, delays, traffic):
        axes.set_xlabel("virtual time (s)")
    try:
        figure.savefig(path, dpi=120)
    except (OSError, ValueError) as error:
        raise FileError(f"cannot draw: {error}", path=path) from None


def _over_time(table: pa.Table, column: str) -> tuple[list[float], list[float], list[float]]:
    """The times, and the most and the mean of a column at each."""
    grouped = table.group_by("time", use_threads=False).aggregate(
        [(column, "max"), (column, "mean")]
    )
    times, most, mean = (
        grouped[name].to_pylist() for name in ("time", f"{column}_max", f"{column}_mean")
    )
    return times, most, mean


def _delays_over_time(table: pa.Table) -> tuple[list[float], list[float], list[float]]:
    """The p50 and the p99 of the delays in each of 100 spans of time."""
    times, delays = (table[name].to_numpy() for name in ("time", "seconds"))
    if not len(times):
        return [], [], []
    edges = np.linspace(times[0], times[-1], 101)
    parts = np.split(delays, np.searchsorted(times, edges[1:-1]))
    spans = [(edge, part) for edge, part in zip(edges, parts, strict=False) if len(part)]
    p50, p99 = ([float(np.quantile(part, q)) for _, part in spans] for q in (0.5, 0.99))
    return [float(edge) for edge, _ in spans], p50, p99
