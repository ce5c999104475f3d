"""Counted by ranks or by matches, what is counted is what the reference evaluator accepts."""

from hypothesis import given
from hypothesis import strategies as st

from boolcast.filters.expressions import Filter
from boolcast.filters.parsing import parse
from boolcast.matching.counting.engine import CountingMatcher
from boolcast.matching.inputs.chunks import chunks
from boolcast.matching.inputs.protocol import Events
from boolcast.matching.predicate_counts import PredicateCounts
from boolcast.matching.segment.live_segment import Entry, LiveSegment
from boolcast.matching.values.selectivity import Selectivity
from boolcast.model.arrow import events_from_arrow
from boolcast.workloads import Auction
from tests.matching.conformance import json_lines, numbered_lines, tables
from tests.strategies import events, filters, predicates


def counter_of(several: list[Filter]) -> PredicateCounts:
    entries = [Entry(i, f"s{i}", filter, str(filter)) for i, filter in enumerate(several)]
    return PredicateCounts(LiveSegment.of_entries(entries, Selectivity.unknown()))


def add(counter: PredicateCounts, many: Events) -> None:
    for chunk in chunks(many):
        counter.add(chunk)


def leaves_and_trees() -> st.SearchStrategy[list[Filter]]:
    one = predicates(small=True) | predicates() | filters(max_leaves=4, small=True)
    return st.lists(one, max_size=8, unique_by=str)


@given(leaves_and_trees(), st.lists(tables(), max_size=3))
def test_counts_of_columns(several, batches):
    counter = counter_of(several)
    seen = [event for table in batches for event in events_from_arrow(table)]
    for table in batches:
        add(counter, table)
    assert counter.events == len(seen)
    assert counter.matches().tolist() == [sum(map(each.accepts, seen)) for each in several]


@given(leaves_and_trees(), st.lists(events(small=True), max_size=5))
def test_counts_of_lines(several, members):
    lines = json_lines(members)
    counter = counter_of(several)
    add(counter, lines)
    seen = [event for _, event in numbered_lines(lines)]
    assert counter.events == len(seen)
    assert counter.matches().tolist() == [sum(map(each.accepts, seen)) for each in several]


def test_the_published_counters_say_the_same():
    """P1-B5: the counting engine learns by itself what is counted here without it."""
    auction = Auction(seed=5)
    engine = CountingMatcher()
    for number, filter in enumerate(auction.subscription_filters(0, 300)):
        engine.add(str(number), filter)
    table = auction.events(0, 2_000)
    engine.match_batch(table).read_all()
    learnt = engine.statistics().predicates
    counter = counter_of([parse(text) for text in learnt])
    add(counter, table)
    assert dict(zip(learnt, counter.matches().tolist(), strict=True)) == learnt
