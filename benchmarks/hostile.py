"""How long each case of the hostile corpus takes: `python -m benchmarks.hostile`.

The target is 10 ms for each case. The time is the median of several runs. It does not include
building the input, but it does include compiling regular expressions. It is processor time of this
process, because the machine may be busy.
"""

import contextlib
import gc
import statistics
import time

from rich.console import Console
from rich.table import Table

from boolcast.errors import BoolcastError
from boolcast.filters.regexes import compile_regex
from tests.hostile.corpus import CORPUS, Case

AIM_MS = 10
REPEATS = 7


def outcome(case: Case) -> str:
    """The expected outcome of the case, for the table."""
    if not isinstance(case.outcome, type):
        return str(case.outcome)
    return case.outcome.__name__ + (f" ({case.limit})" if case.limit else "")


def measure_ms(case: Case) -> float:
    """The median time of one run."""
    import re2  # noqa: PLC0415 - the first regular expression imports it; keep that out of the time

    times = []
    for _ in range(REPEATS):
        made = case.make()
        compile_regex.cache_clear()
        re2.purge()
        gc.collect()
        begin = time.process_time_ns()
        with contextlib.suppress(BoolcastError):
            case.run(made)
        times.append((time.process_time_ns() - begin) / 1e6)
    return statistics.median(times)


def main() -> None:
    """Print the table, and how many cases miss the target."""
    console = Console()
    table = Table("kind", "case", "outcome")
    table.add_column("ms", justify="right")
    late = total = 0
    for kind, cases in CORPUS.items():
        for case in cases:
            taken_ms = measure_ms(case)
            is_late = taken_ms > AIM_MS
            late += is_late
            total += 1
            shown = f"{taken_ms:.2f}"
            table.add_row(kind, case.name, outcome(case), f"[red]{shown}" if is_late else shown)
    console.print(table)
    console.print(f"{total} cases, {late} of them over {AIM_MS} ms")


if __name__ == "__main__":
    main()
