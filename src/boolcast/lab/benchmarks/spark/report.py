"""The figures of `boolcast bench spark` as tables, or as JSON lines."""

from collections.abc import Sequence

from rich.table import Table

from boolcast.cli.output.tables import number, of_kind
from boolcast.lab.benchmarks.figures import (
    BatchFigures,
    SparkBenchmarkFigures,
    SparkFigures,
    SparkRatio,
)
from boolcast.lab.benchmarks.output import (
    Benchmark,
    explain_marks,
    mark,
    measured,
    table_of,
    wide_console,
    write_tables,
)


def show(run: Benchmark[SparkBenchmarkFigures], steps: int, *, as_json: bool) -> None:
    """Measure and write."""
    found = measured(run, steps, as_json=as_json)
    if as_json:
        return
    console = wide_console()
    rates = of_kind(SparkFigures, found)
    write_tables(console, [_rate_table(rates)])
    for each in rates:
        console.print(f"{each.workload}, {each.contender}: {each.what}")
    for engine in of_kind(BatchFigures, found):
        console.print(
            f"the engine in a single process, one core: {engine.events_per_second:,.0f} events/s, "
            f"{number(engine.microseconds_per_event)} µs of processor time per event\n"
        )
    write_tables(console, [_ratio_table(of_kind(SparkRatio, found))])


def _rate_table(figures: Sequence[SparkFigures]) -> Table:
    table = table_of(
        "From Parquet files to a count for each subscription",
        figures,
        {"workload": lambda each: each.workload, "by": lambda each: each.contender},
        {
            "cores": lambda each: str(each.cores),
            "subscriptions": lambda each: f"{each.subscriptions:,}",
            "events": lambda each: f"{each.events:,}",
            "seconds": lambda each: number(each.seconds),
            "events/s": lambda each: f"{number(each.scaled_events_per_second)}{mark(each)}",
            "core µs/event": lambda each: number(each.core_microseconds_per_event),
            "matches": lambda each: number(each.matches_per_event),
        },
    )
    return explain_marks(table, figures, "the others")


def _ratio_table(ratios: Sequence[SparkRatio]) -> Table:
    return table_of(
        "Ratios",
        ratios,
        {"": lambda each: each.what},
        {
            "ratio": lambda each: number(each.ratio),
            "target": lambda each: "" if each.target is None else f"≥ {number(each.target)}",
        },
    )
