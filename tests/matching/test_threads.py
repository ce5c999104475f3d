"""Each match answers for one state between its call and its end, whatever others do meanwhile."""

import random
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import pyarrow as pa
import pytest

from boolcast.filters.expressions import Filter
from boolcast.filters.parsing import parse
from boolcast.matching import matcher as matcher_module
from boolcast.matching.matcher import Matcher
from boolcast.matching.segment import kernel_runner
from boolcast.matching.segment.bulk_load import Loader
from boolcast.matching.segment.live_segment import Entry, LiveSegment, Scratch
from tests.matching.faults import MemoryStore

EVENTS: Final = pa.table({"a": [0, 0, 1, 2], "b": [0, 3, 5, 8]})
ROWS: Final[list[dict[str, object]]] = EVENTS.to_pylist()
FILTERS: Final = [
    parse(text)
    for text in (
        *("true", "a = 0", "a < 2", "a != 1 and b >= 3", "b < 4 or a = 2", "not (b = 5)"),
        *("a in (0, 2)", "b > a", "c is null and b < 6", "a = 1 or b between 2 and 4"),
    )
]

Change = tuple[str, Filter | None]
"""A subscription, and its new filter or None: it is removed."""
Answers = list[frozenset[str]]
"""For each event, who accepts it."""
Read = Callable[[], list[tuple[int, str]]]
"""Gives the matches of an answer, perhaps much later."""
Ask = Callable[[Matcher], Read]


@pytest.fixture(autouse=True)
def _restless(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Threads change every few instructions, and segments are small."""
    monkeypatch.setattr(matcher_module, "PENDING_LIMIT", 8)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def changes(seed: int) -> Iterator[Change]:
    """Additions, replacements and removals of a few subscriptions, without end."""
    chance = random.Random(seed)
    present: set[str] = set()
    while True:
        name = f"s{chance.randrange(40)}"
        if name in present and chance.random() < 0.3:
            present.remove(name)
            yield name, None
        else:
            present.add(name)
            yield name, chance.choice(FILTERS)


class Race:
    """A matcher that one thread changes, and what others may find in it.

    `history` holds the answers before the first change and after each, by the reference
    evaluator; so many changes have `begun`, and so many are `done`.
    """

    def __init__(self) -> None:
        self.matcher = Matcher()
        self.history: list[Answers] = [[frozenset()] * len(ROWS)]
        self.begun = 0
        self.done = 0
        self.is_over = threading.Event()

    def change(self, seed: int) -> None:
        """Make changes until all is over, with a merge now and then."""
        for number, (name, filter) in enumerate(changes(seed), 1):
            after = [
                known | {name} if filter is not None and filter.accepts(row) else known - {name}
                for known, row in zip(self.history[-1], ROWS, strict=True)
            ]
            self.history.append(after)
            self.begun = number
            if filter is None:
                self.matcher.remove(name)
            else:
                self.matcher.add(name, filter)
            self.done = number
            if number % 97 == 0:
                self.matcher.merge()
            if self.is_over.is_set():
                return

    def look(self, times: int, rows: Sequence[int], ask: Ask) -> None:
        """Ask about these events so many times; all answers together are of one state."""
        for _ in range(times):
            earliest = self.done
            read = ask(self.matcher)
            latest = self.begun
            found = read()
            answers = [frozenset(name for row, name in found if row == each) for each in rows]
            assert sum(map(len, answers)) == len(found)
            possible = self.history[earliest : latest + 1]
            assert answers in [[state[row] for row in rows] for state in possible]


def ask_singly(row: int) -> Ask:
    def ask(matcher: Matcher) -> Read:
        found = [(row, name) for name in matcher.match(ROWS[row])]
        return lambda: found

    return ask


def ask_for_all(matcher: Matcher) -> Read:
    """The state is that of the call, though the answer is read after others had their turn."""
    reader = matcher.match_batch(EVENTS)

    def read() -> list[tuple[int, str]]:
        time.sleep(0.001)
        columns = reader.read_all().to_pydict()
        return list(zip(columns["event"], columns["subscription"], strict=True))

    return read


def saved(matcher: Matcher) -> Read:
    store = MemoryStore()
    matcher.save(store)
    return ask_for_all(Matcher.load(store))


def test_every_answer_is_that_of_one_state():
    race = Race()
    everything = range(len(ROWS))
    with ThreadPoolExecutor() as pool:
        writer = pool.submit(race.change, seed=5)
        readers = [
            *(pool.submit(race.look, 300, [row], ask_singly(row)) for row in (0, 3)),
            pool.submit(race.look, 60, everything, ask_for_all),
            pool.submit(race.look, 3, everything, saved),
        ]
        try:
            for reader in readers:
                reader.result()
        finally:
            race.is_over.set()
        writer.result()
    race.look(1, everything, ask_for_all)
    assert race.done > 200


@pytest.mark.slow
def test_many_that_are_replaced_at_once_are_found_old_or_new():
    names = [f"s{number}" for number in range(200)]
    old, new = (
        pa.table({"subscription": names, "filter": [f"{bound} and b < {n}" for n in range(200)]})
        for bound in ("a = 0", "a < 2")
    )
    matcher = Matcher()
    matcher.add_many(old)
    answers = {len(matcher.match(ROWS[0]))}
    is_over = threading.Event()

    def look() -> set[int]:
        found = set()
        while not is_over.is_set():
            found.add(len(matcher.match(ROWS[0])))
        return found

    with ThreadPoolExecutor() as pool:
        readers = [pool.submit(look) for _ in range(2)]
        for _ in range(20):
            matcher.add_many(new)
            matcher.add_many(old)
        is_over.set()
        assert {size for reader in readers for size in reader.result()} == answers == {199}


@pytest.mark.parametrize("is_in_segment", [False, True])
def test_what_is_replaced_is_never_missing(monkeypatch, is_in_segment):
    """Somebody looks in the middle of it, when the old filter is on its way out."""
    matcher = Matcher()
    matcher.add("s", "a = 0")
    if is_in_segment:
        matcher.merge()
    seen = []

    def look_and_make(*parts):
        seen.append(matcher.match(ROWS[0]))
        return Entry(*parts)

    monkeypatch.setattr(matcher_module, "Entry", look_and_make)
    matcher.add("s", "a < 2")
    assert seen == [["s"]]
    assert matcher.match(ROWS[0]) == ["s"]


def test_each_thread_that_reads_on_has_working_memory_of_its_own(monkeypatch):
    """Two readers begun in one thread and read on in two would share it, and lose matches."""
    monkeypatch.setattr(kernel_runner, "_ROWS", 2)
    matcher = Matcher()
    matcher.add_many(pa.table({"subscription": ["s", "t"], "filter": ["a = 0 or b = 0"] * 2}))
    used: list[object] = []
    scratch = LiveSegment.scratch

    def noted(live: LiveSegment) -> Scratch:
        used.append(scratch(live))
        return scratch(live)

    monkeypatch.setattr(LiveSegment, "scratch", noted)
    reader = matcher.match_batch(pa.table({"a": [0, 0, 0], "b": [0, 0, 0]}))
    reader.read_next_batch()
    with ThreadPoolExecutor(1) as pool:
        rest = pool.submit(reader.read_all).result()
    assert rest.num_rows == 4
    assert used[0] is not used[-1]


def test_nobody_waits_for_a_large_load(monkeypatch):
    matcher = Matcher()
    matcher.add("s", "a = 0")
    make = Loader.segment
    seen = []

    def look_and_make(*parts):
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(lambda: matcher.match_batch(EVENTS).read_all().num_rows)
            seen.append(answer.result(timeout=60))
            pool.submit(matcher.add, "u", "a = 1").result(timeout=60)
        return make(*parts)

    monkeypatch.setattr(Loader, "segment", look_and_make)
    matcher.add_many(pa.table({"subscription": ["s", "t", "u"], "filter": ["a = 2"] * 3}))
    assert seen == [2]
    assert sorted(matcher.match(ROWS[3])) == ["s", "t", "u"]
    assert matcher.match(ROWS[0]) == matcher.match(ROWS[2]) == []
    assert len(matcher) == 3
