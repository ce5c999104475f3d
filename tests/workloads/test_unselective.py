"""Filters that no index is made for."""

import numpy as np
import pytest

from boolcast.filters.expressions import Not, Or, StringTest
from boolcast.filters.parsing import parse
from boolcast.model.events import Event
from boolcast.workloads import Auction, Unselective

WORKLOAD = Unselective(seed=2)


def test_rows_agree_with_each_other():
    table = WORKLOAD.subscriptions(70, 300)
    filters = list(WORKLOAD.subscription_filters(70, 300))
    assert [parse(text) for text in table["filter"].to_pylist()] == filters
    assert table["subscription"].to_pylist() == [f"s{row}" for row in range(70, 370)]
    assert [WORKLOAD.subscription(row) for row in (70, 369)] == [filters[0], filters[-1]]
    assert WORKLOAD.subscriptions(170, 200) == table.slice(100, 200)


def test_events_are_those_of_the_auction():
    assert WORKLOAD.events(5, 20) == Auction(seed=2).events(5, 20)
    assert WORKLOAD.event(5) == Auction(seed=2).event(5)


@pytest.mark.parametrize(
    ("name", "kind", "share"),
    [("or", Or, 0.077), ("not", Not, 0.93), ("contains", StringTest, 0.0001)],
)
def test_each_class_takes_its_share_of_events(name, kind, share):
    events = [Event(event) for event in WORKLOAD.events(0, 400).to_pylist()]
    rows = WORKLOAD.subscriptions(0, 600).to_pylist()
    filters = [parse(row["filter"]) for row in rows if row["class"] == name]
    assert len(filters) == pytest.approx(200, rel=0.2)
    assert {type(filter) for filter in filters} == {kind}
    accepted = np.mean([filter.accepts(event) for filter in filters for event in events])
    assert accepted == pytest.approx(share, rel=0.2, abs=0.0002)


def test_few_filters_are_equal():
    texts = WORKLOAD.subscriptions(0, 30_000)["filter"].to_pylist()
    assert len(set(texts)) > 0.75 * len(texts)


def test_parts_stand_anywhere_in_a_title():
    leaves = [
        filter for filter in WORKLOAD.subscription_filters(0, 300) if isinstance(filter, StringTest)
    ]
    assert {(leaf.attribute, leaf.function) for leaf in leaves} == {("title", "contains")}
    titles = WORKLOAD.events(0, 5_000)["title"].to_pylist()
    assert any(leaf.operand in title for leaf in leaves for title in titles)
