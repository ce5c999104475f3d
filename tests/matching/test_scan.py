"""What the scan has beyond the suite of all engines: its store, its readers of events."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from boolcast.errors import UsageError
from boolcast.filters.parsing import parse
from boolcast.matching.inputs.event_rows import numbered_events
from boolcast.matching.inputs.register import BATCH_MATCHES, Subscriptions
from boolcast.matching.scan import ScanMatcher


def test_equal_filters_are_held_once():
    subscriptions = Subscriptions()
    for number in range(3):
        subscriptions.add(f"s{number}", "a = 1 and b < 2")
    subscriptions.add("float", "a = 1.0 and b < 2.0")
    subscriptions.add("boolean", "a = true and b < 2")
    assert len(subscriptions) == 5
    assert list(map(str, subscriptions.snapshot().filters)) == [
        "a = 1 and b < 2",
        "a = true and b < 2",
    ]
    subscriptions.remove("boolean")
    assert list(map(str, subscriptions.snapshot().filters)) == ["a = 1 and b < 2"]
    subscriptions.add("s0", "c = 1")
    assert subscriptions.snapshot().names_of([0]) == ["s1", "s2", "float"]
    assert subscriptions.snapshot().names_of([1]) == ["s0"]


def test_ids_come_in_the_order_in_which_they_were_added():
    matcher = ScanMatcher()
    for name in ("z", "a", "m"):
        matcher.add(name, "true")
    assert matcher.match({}) == ["z", "a", "m"]


@pytest.mark.parametrize("count", [1, 1_000, BATCH_MATCHES, BATCH_MATCHES + 1])
def test_a_batch_holds_so_many_matches_and_no_more(count):
    subscriptions = Subscriptions()
    for number in range(count):
        subscriptions.add(str(number), parse("true"))
    subscriptions.add("other", parse("false"))
    events = np.array([7, 9, 9], dtype=np.int64)
    batches = list(subscriptions.snapshot().batches(events, np.array([0, 1, 0])))
    sizes = [batch.num_rows for batch in batches]
    assert all(size == BATCH_MATCHES for size in sizes[:-1])
    assert 0 < sizes[-1] <= BATCH_MATCHES
    rows = [(row["event"], row["subscription"]) for batch in batches for row in batch.to_pylist()]
    names = [str(number) for number in range(count)]
    assert rows == [(7, name) for name in names] + [(9, "other")] + [(9, name) for name in names]


@pytest.mark.parametrize("events", ["{}", [{}], {"a": 1}, None, pa.array([1])])
def test_events_of_another_type_are_refused_at_once(events):
    with pytest.raises(UsageError, match=type(events).__name__):
        ScanMatcher().match_batch(events)


def test_rows_past_a_chunk_go_on_counting():
    table = pa.table({"a": range(5_000)})
    for events in (table, table.to_reader(3_000), table.to_batches()[0]):
        assert [(number, event["a"]) for number, event in numbered_events(events)] == [
            (number, number) for number in range(5_000)
        ]


@pytest.mark.parametrize("module", ["boolcast", "boolcast.matching.scan"])
def test_numba_is_not_imported(module):
    check = f"import sys, {module}; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0
