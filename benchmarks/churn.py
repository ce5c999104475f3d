"""The cost of adding and removing subscriptions while events are matched, merges included.

python -m benchmarks.churn [--subscriptions 1000000] [--removals 100000] [--json]

Filters of the workload `auction` are added as trees, so no parser is measured. Costs are
processor time, once of the calls alone and once with the merges in the background. Meanwhile
another thread matches a single event every few milliseconds. Its waiting time is wall-clock time,
so it grows with whatever else runs on the machine. A second process that only wakes up as often
shows how much: its longest delay is not caused by Boolcast.

`gc.freeze()` hides long-lived objects from the garbage collector, as a service does after its
start. Otherwise each full collection would stop all threads for half a second.
"""

import argparse
import gc
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter, process_time, sleep, thread_time

import msgspec
import numpy as np

from boolcast.lab.benchmarks.match.engines import auction
from boolcast.matching.matcher import Matcher

CHUNK = 500
EVENTS = 20_000
PAUSE_SECONDS = 0.002


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """The figures; a `call` does not include the merges that it makes necessary."""

    subscriptions: int
    add_microseconds: float
    add_call_microseconds: float
    slowest_add_ms: float
    remove_microseconds: float
    remove_call_microseconds: float
    slowest_remove_ms: float
    matches: int
    median_match_ms: float
    percentile_99_match_ms: float
    longest_match_ms: float
    longest_delay_of_machine_ms: float
    segments: tuple[int, ...]


class Watcher:
    """A thread that keeps matching events, and records how long each match took."""

    def __init__(self, matcher: Matcher, events: list[dict[str, object]]) -> None:
        self._matcher = matcher
        self._events = events
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.taken: list[float] = []
        self.processor_seconds = 0.0

    def __enter__(self) -> "Watcher":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            event = self._events[len(self.taken) % len(self._events)]
            begin = perf_counter()
            self._matcher.match(event)
            self.taken.append(perf_counter() - begin)
            self.processor_seconds = thread_time()
            sleep(PAUSE_SECONDS)


_SLEEPER = """
import sys, threading, time
stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
longest = 0.0
while not stop.is_set():
    begin = time.perf_counter()
    time.sleep({pause})
    longest = max(longest, time.perf_counter() - begin - {pause})
print(longest)
"""


@contextmanager
def sleeper() -> Iterator[Callable[[], float]]:
    """A process that only sleeps; calling the result ends it and returns its longest delay."""
    code = _SLEEPER.format(pause=PAUSE_SECONDS)
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield lambda: float(process.communicate()[0])


class Costs:
    """Processor time of many calls: of the calls alone, and of everything but preparation."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._begin = process_time() - watcher.processor_seconds
        self._prepared = 0.0
        self._mark = thread_time()
        self._calls = 0
        self._call_seconds = 0.0
        self.slowest_ms = 0.0

    def prepared(self) -> None:
        """Leave out what was done since the last mark."""
        self._prepared += thread_time() - self._mark
        self._mark = thread_time()

    def called(self, times: list[float]) -> None:
        """Count what was done since the last mark as calls at these clock times."""
        self._call_seconds += thread_time() - self._mark
        self._calls += len(times) - 1
        self.slowest_ms = max(self.slowest_ms, 1e3 * float(np.diff(times).max()))
        self._mark = thread_time()

    def call_microseconds(self) -> float:
        return 1e6 * self._call_seconds / self._calls

    def microseconds(self) -> float:
        """Of everything that the process did, except preparation and matching."""
        self.prepared()
        total = process_time() - self._watcher.processor_seconds - self._begin - self._prepared
        return 1e6 * total / self._calls


def settle(matcher: Matcher) -> None:
    """Wait until no merge is running."""
    while any(each.name == "boolcast-merge" for each in threading.enumerate()):
        sleep(0.05)
    assert len(matcher.stats(expensive=0).segments) > 0


def measure(subscriptions: int, removals: int, seed: int) -> Figures:
    """Add all subscriptions, then remove some of them in random order."""
    workload = auction("auction", subscriptions, seed)
    matcher = Matcher()
    events = workload.events(0, EVENTS).to_pylist()
    # Compile every kernel, or load it from numba's cache, before anything is measured.
    for number, filter in enumerate(workload.subscription_filters(0, 2_000)):
        matcher.add(f"s{number}", filter)
    matcher.match(events[0])
    matcher.merge()
    gc.collect()
    gc.freeze()
    with sleeper() as longest_delay, Watcher(matcher, events) as watcher:
        adding = Costs(watcher)
        for start in range(2_000, subscriptions, CHUNK):
            count = min(CHUNK, subscriptions - start)
            filters = list(workload.subscription_filters(start, count))
            adding.prepared()
            times = [perf_counter()]
            for number, filter in enumerate(filters, start):
                matcher.add(f"s{number}", filter)
                times.append(perf_counter())
            adding.called(times)
        settle(matcher)
        add_microseconds = adding.microseconds()
        segments = matcher.stats(expensive=0).segments
        removing = Costs(watcher)
        chosen = random.Random(seed).sample(range(subscriptions), min(removals, subscriptions))
        removing.prepared()
        times = [perf_counter()]
        for number in chosen:
            matcher.remove(f"s{number}")
            times.append(perf_counter())
        removing.called(times)
        settle(matcher)
        remove_microseconds = removing.microseconds()
        delay_ms = 1e3 * longest_delay()
    taken_ms = 1e3 * np.array(watcher.taken)
    return Figures(
        subscriptions=subscriptions,
        add_microseconds=add_microseconds,
        add_call_microseconds=adding.call_microseconds(),
        slowest_add_ms=adding.slowest_ms,
        remove_microseconds=remove_microseconds,
        remove_call_microseconds=removing.call_microseconds(),
        slowest_remove_ms=removing.slowest_ms,
        matches=len(taken_ms),
        median_match_ms=float(np.median(taken_ms)),
        percentile_99_match_ms=float(np.percentile(taken_ms, 99)),
        longest_match_ms=float(taken_ms.max()),
        longest_delay_of_machine_ms=delay_ms,
        segments=segments,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subscriptions", type=int, default=1_000_000)
    parser.add_argument("--removals", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = measure(options.subscriptions, options.removals, options.seed)
    if options.json:
        sys.stdout.write(msgspec.json.encode(figures).decode() + "\n")
        return
    for name, value in msgspec.structs.asdict(figures).items():
        shown = f"{value:,.2f}" if isinstance(value, float) else f"{value}"
        print(f"{name.replace('_', ' '):<28}{shown:>14}")


if __name__ == "__main__":
    main()
