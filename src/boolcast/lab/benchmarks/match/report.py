"""The figures of `boolcast bench match` as tables, as JSON lines, and as a chart."""

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Final

from rich.table import Table

from boolcast.cli.output.tables import number, of_kind
from boolcast.cli.output.writing import write_error
from boolcast.errors import FileError
from boolcast.lab.benchmarks.figures import (
    AlternativeFigures,
    BatchFigures,
    Figures,
    GrowthFigures,
    MissingAlternative,
    SingleFigures,
)
from boolcast.lab.benchmarks.match.chart import draw
from boolcast.lab.benchmarks.output import (
    Benchmark,
    explain_marks,
    mark,
    measured,
    table_of,
    wide_console,
    write_tables,
)

_NOTED_SLOWDOWN: Final = 1.5


def show(run: Benchmark[Figures], steps: int, *, as_json: bool, chart: str | None = None) -> bool:
    """Measure and write; False if something could not be measured. Raises FileError."""
    clock, processor = perf_counter(), process_time()
    found = measured(run, steps, as_json=as_json)
    slowdown = (perf_counter() - clock) / (process_time() - processor)
    missing = of_kind(MissingAlternative, found)
    if not as_json:
        _write_tables(found)
        for each in missing:
            write_error(f"left out: {each.problem}")
        if slowdown > _NOTED_SLOWDOWN:
            write_error(
                f"times are processor time; the processor was shared, and by the clock the run "
                f"took {slowdown:.1f} times as long"
            )
    if chart is not None:
        _write_chart(of_kind(BatchFigures, found), chart)
    return not missing


def _write_chart(figures: Sequence[BatchFigures], chart: str) -> None:
    try:
        Path(chart).write_text(draw(figures), encoding="utf-8")
    except OSError as error:
        raise FileError(f"cannot write: {error.strerror}", path=chart) from None


def _write_tables(found: Sequence[Figures]) -> None:
    console = wide_console()
    alternatives = of_kind(AlternativeFigures, found)
    tables = (
        _speed_table(of_kind(BatchFigures, found)),
        _size_table(of_kind(BatchFigures, found)),
        _growth_table(of_kind(GrowthFigures, found)),
        _single_table(of_kind(SingleFigures, found)),
        _alternative_table(alternatives),
    )
    write_tables(console, tables)
    for each in alternatives:
        console.print(f"{each.alternative}: {each.what}")


def _speed_table(figures: Sequence[BatchFigures]) -> Table:
    return table_of(
        "In batches, from Arrow to Arrow; candidates and matches per event",
        figures,
        {"workload": lambda each: each.workload, "engine": lambda each: each.engine},
        {
            "subscriptions": lambda each: f"{each.subscriptions:,}",
            "events": lambda each: f"{each.events:,}",
            "load s": lambda each: f"{each.load_seconds:.1f}",
            "settle s": lambda each: f"{each.settle_seconds:.1f}",
            "events/s": lambda each: f"{each.events_per_second:,.0f}",
            "µs/event": lambda each: number(each.microseconds_per_event),
            "candidates": lambda each: number(each.candidates_per_event),
            "matches": lambda each: number(each.matches_per_event),
            "× counting": lambda each: number(each.times_counting),
            "× scan": lambda each: number(each.times_scan),
        },
    )


def _size_table(figures: Sequence[BatchFigures]) -> Table:
    return table_of(
        "Bytes per subscription",
        [each for each in figures if each.structure_bytes is not None],
        {"workload": lambda each: each.workload, "engine": lambda each: each.engine},
        {
            "subscriptions": lambda each: f"{each.subscriptions:,}",
            "index": lambda each: number(each.structure_bytes),
            "constants": lambda each: number(each.filter_bytes),
            "ids": lambda each: number(each.id_bytes),
            "texts": lambda each: number(each.text_bytes),
        },
    )


def _growth_table(figures: Sequence[GrowthFigures]) -> Table:
    return table_of(
        "Time per candidate and match",
        figures,
        {"workload": lambda each: each.workload, "engine": lambda each: each.engine},
        {
            "from": lambda each: f"{each.fewer_subscriptions:,}",
            "to": lambda each: f"{each.more_subscriptions:,}",
            "ns before": lambda each: number(each.fewer_nanoseconds),
            "ns after": lambda each: number(each.more_nanoseconds),
            "growth": lambda each: f"{each.growth:.2f}",
        },
    )


def _single_table(figures: Sequence[SingleFigures]) -> Table:
    return table_of(
        "Calls of match with a dict, class 1 of fixed",
        figures,
        {"engine": lambda each: each.engine},
        {
            "subscriptions": lambda each: f"{each.subscriptions:,}",
            "calls": lambda each: f"{each.calls:,}",
            "µs/call": lambda each: number(each.microseconds_per_call),
            "median µs": lambda each: number(each.median_microseconds),
            "99 % µs": lambda each: number(each.percentile_99_microseconds),
            "matches": lambda each: number(each.matches_per_event),
        },
    )


def _alternative_table(figures: Sequence[AlternativeFigures]) -> Table:
    table = table_of(
        "Alternatives on class 1 of auction, one batch, from Arrow to Arrow",
        figures,
        {"by": lambda each: each.alternative},
        {
            "subscriptions": lambda each: f"{each.subscriptions:,}",
            "events": lambda each: f"{each.events:,}",
            "load s": lambda each: f"{each.load_seconds:.1f}",
            "events/s": lambda each: f"{each.events_per_second:,.0f}",
            "µs/event": lambda each: number(each.microseconds_per_event),
            "access is faster": lambda each: f"{number(each.access_is_faster)} ×{mark(each)}",
        },
    )
    return explain_marks(table, figures, "access")
