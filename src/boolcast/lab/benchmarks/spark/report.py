"""The figures of `boolcast bench spark` as tables, or as JSON lines."""

from collections.abc import Sequence

from rich.table import Table

from boolcast.cli.output.tables import number, of_kind, plain_table
from boolcast.lab.benchmarks.figures import (
    BatchFigures,
    SparkBenchmarkFigures,
    SparkFigures,
    SparkRatio,
)
from boolcast.lab.benchmarks.output import (
    Benchmark,
    mark_scaled,
    measured,
    wide_console,
    write_tables,
)


def show(run: Benchmark[SparkBenchmarkFigures], steps: int, *, as_json: bool) -> None:
    """Measure and write."""
    found = measured(run, steps, as_json=as_json)
    if as_json:
        return
    console = wide_console()
    write_tables(console, [_rate_table(of_kind(SparkFigures, found))])
    for engine in of_kind(BatchFigures, found):
        console.print(
            f"the engine in a single process, one core: {engine.events_per_second:,.0f} events/s, "
            f"{number(engine.microseconds_per_event)} µs of processor time per event\n"
        )
    write_tables(console, [_ratio_table(of_kind(SparkRatio, found))])


def _rate_table(figures: Sequence[SparkFigures]) -> Table:
    table = plain_table(
        "From Parquet files to a count for each subscription",
        ["workload", "by"],
        ["cores", "subscriptions", "events", "seconds", "events/s", "core µs/event", "matches"],
    )
    table.add_column("what")
    is_scaled = False
    for each in figures:
        mark = "*" if each.subscriptions < each.scaled_to else ""
        is_scaled |= bool(mark)
        table.add_row(
            each.workload,
            each.contender,
            str(each.cores),
            f"{each.subscriptions:,}",
            f"{each.events:,}",
            number(each.seconds),
            f"{number(each.scaled_events_per_second)}{mark}",
            number(each.core_microseconds_per_event),
            number(each.matches_per_event),
            each.what,
        )
    if is_scaled:
        mark_scaled(table, "the others")
    return table


def _ratio_table(ratios: Sequence[SparkRatio]) -> Table:
    table = plain_table("Ratios", [""], ["ratio", "target"])
    for each in ratios:
        target = "" if each.target is None else f"≥ {number(each.target)}"
        table.add_row(each.what, number(each.ratio), target)
    return table
