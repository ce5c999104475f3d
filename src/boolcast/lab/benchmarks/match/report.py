"""The figures of `boolcast bench` as tables, or as JSON lines while they come."""

from collections.abc import Sequence
from time import perf_counter, process_time
from typing import Final

from rich.console import Console
from rich.table import Table

from boolcast.cli.output.progress import steps
from boolcast.cli.output.tables import WIDTH, QuietConsole, number, of_kind, plain_table
from boolcast.cli.output.writing import write_error, write_json
from boolcast.lab.benchmarks.figures import (
    BatchFigures,
    Figures,
    GrowthFigures,
    MissingRival,
    RivalFigures,
    SingleFigures,
)
from boolcast.lab.benchmarks.match.run import Choice, run

_NOTED_SLOWDOWN: Final = 1.5


def show(choice: Choice, *, as_json: bool) -> bool:
    """Measure and write; False if something could not be measured."""
    found: list[Figures] = []
    clock, processor = perf_counter(), process_time()
    with steps(choice.parts) as begin:
        for figures in run(choice, begin):
            found.append(figures)
            if as_json:
                write_json(figures)
    slowdown = (perf_counter() - clock) / (process_time() - processor)
    missing = of_kind(MissingRival, found)
    if not as_json:
        _write_tables(found)
        for each in missing:
            write_error(f"left out: {each.problem}")
        if slowdown > _NOTED_SLOWDOWN:
            write_error(
                f"times are of the processor; it was shared: by the clock all took "
                f"{slowdown:.1f} times as long"
            )
    return not missing


def _write_tables(found: Sequence[Figures]) -> None:
    # As wide as it takes: a figure that is cut off is none.
    console = QuietConsole(highlight=False, width=max(Console().width, WIDTH))
    rivals = of_kind(RivalFigures, found)
    for table in (
        _speed_table(of_kind(BatchFigures, found)),
        _size_table(of_kind(BatchFigures, found)),
        _growth_table(of_kind(GrowthFigures, found)),
        _single_table(of_kind(SingleFigures, found)),
        _rival_table(rivals),
    ):
        if table.row_count:
            console.print(table)
    for each in rivals:
        console.print(f"{each.rival}: {each.what}")


def _speed_table(figures: Sequence[BatchFigures]) -> Table:
    table = plain_table(
        "In batches, from Arrow to Arrow; candidates and matches of an event",
        ["workload", "engine"],
        ["subscriptions", "load s", "settle s", "events/s", "µs/event", "candidates", "matches"],
        ["× counting", "× scan"],
    )
    for each in figures:
        table.add_row(
            each.workload,
            each.engine,
            f"{each.subscriptions:,}",
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
        "Bytes for each subscription",
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
        "Time for each candidate and match",
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


def _rival_table(figures: Sequence[RivalFigures]) -> Table:
    table = plain_table(
        "Class 1 of auction by other means, one batch, from Arrow to Arrow",
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
        table.caption = "* as if its time grew with the subscriptions, to as many as access has"
    return table
