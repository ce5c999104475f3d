"""The figures of `boolcast bench match` as tables, as JSON lines, and as a chart."""

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Final

from rich.table import Table

from boolcast.cli.output.tables import number, of_kind, plain_table
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
    mark_scaled,
    measured,
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
        console.print(f"{each.rival}: {each.what}")


def _speed_table(figures: Sequence[BatchFigures]) -> Table:
    table = plain_table(
        "In batches, from Arrow to Arrow; candidates and matches per event",
        ["workload", "engine"],
        [
            "subscriptions",
            "events",
            "load s",
            "settle s",
            "events/s",
            "µs/event",
            "candidates",
            "matches",
        ],
        ["× counting", "× scan"],
    )
    for each in figures:
        table.add_row(
            each.workload,
            each.engine,
            f"{each.subscriptions:,}",
            f"{each.events:,}",
            f"{each.load_seconds:.1f}",
            f"{each.settle_seconds:.1f}",
            f"{each.events_per_second:,.0f}",
            number(each.microseconds_per_event),
            number(each.candidates_per_event),
            number(each.matches_per_event),
            number(each.times_counting),
            number(each.times_scan),
        )
    return table


def _size_table(figures: Sequence[BatchFigures]) -> Table:
    table = plain_table(
        "Bytes per subscription",
        ["workload", "engine"],
        ["subscriptions", "index", "constants", "ids", "texts"],
    )
    for each in figures:
        if each.structure_bytes is not None:
            table.add_row(
                each.workload,
                each.engine,
                f"{each.subscriptions:,}",
                number(each.structure_bytes),
                number(each.filter_bytes),
                number(each.id_bytes),
                number(each.text_bytes),
            )
    return table


def _growth_table(figures: Sequence[GrowthFigures]) -> Table:
    table = plain_table(
        "Time per candidate and match",
        ["workload", "engine"],
        ["from", "to", "ns before", "ns after", "growth"],
    )
    for each in figures:
        table.add_row(
            each.workload,
            each.engine,
            f"{each.fewer_subscriptions:,}",
            f"{each.more_subscriptions:,}",
            number(each.fewer_nanoseconds),
            number(each.more_nanoseconds),
            f"{each.growth:.2f}",
        )
    return table


def _single_table(figures: Sequence[SingleFigures]) -> Table:
    table = plain_table(
        "Calls of match with a dict, class 1 of fixed",
        ["engine"],
        ["subscriptions", "calls", "µs/call", "median µs", "99 % µs", "matches"],
    )
    for each in figures:
        table.add_row(
            each.engine,
            f"{each.subscriptions:,}",
            f"{each.calls:,}",
            number(each.microseconds_per_call),
            number(each.median_microseconds),
            number(each.percentile_99_microseconds),
            number(each.matches_per_event),
        )
    return table


def _alternative_table(figures: Sequence[AlternativeFigures]) -> Table:
    table = plain_table(
        "Alternatives on class 1 of auction, one batch, from Arrow to Arrow",
        ["by"],
        ["subscriptions", "events", "load s", "events/s", "µs/event", "access is faster"],
    )
    is_scaled = False
    for each in figures:
        mark = "*" if each.subscriptions < each.scaled_to else ""
        is_scaled |= bool(mark)
        table.add_row(
            each.rival,
            f"{each.subscriptions:,}",
            f"{each.events:,}",
            f"{each.load_seconds:.1f}",
            f"{each.events_per_second:,.0f}",
            number(each.microseconds_per_event),
            f"{number(each.access_is_faster)} ×{mark}",
        )
    if is_scaled:
        mark_scaled(table, "access")
    return table
