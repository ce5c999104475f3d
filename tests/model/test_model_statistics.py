"""Statistics of history: shares, and the JSON form that other processes read."""

import msgspec
import pytest

from boolcast.model.statistics import AttributeStatistics, Statistics, ValueBin
from boolcast.model.values import Kind, Timestamp, Value

NOON = Timestamp.parse("2026-01-31T12:00:00Z")

HISTORY = Statistics(
    events=200,
    predicates={"price < 25": 50, "price > 1000": 0},
    attributes={
        "price": AttributeStatistics(
            events=100,
            # 97 of the numbers are finite.
            kinds={Kind.NUMBER: 98, Kind.STRING: 1, Kind.OPAQUE: 1},
            bins={
                Kind.NUMBER: (ValueBin(-1.5, 2**53 + 1, 96, 40), ValueBin(1e308, 1e308, 1, 1)),
                Kind.STRING: (ValueBin("", "日本語", 1, 1),),
            },
        ),
        "sold": AttributeStatistics(
            events=5,
            kinds={Kind.BOOLEAN: 3, Kind.TIMESTAMP: 2},
            bins={
                Kind.BOOLEAN: (ValueBin(False, True, 3, 2),),
                Kind.TIMESTAMP: (ValueBin(NOON, NOON, 2, 1),),
            },
        ),
    },
)


@pytest.mark.parametrize(
    ("predicate", "share"),
    [("price < 25", 0.25), ("price > 1000", 0.0), ("price < 5", None)],
)
def test_selectivity_is_the_share_of_events_that_match(predicate, share):
    assert HISTORY.selectivity(predicate) == share


@pytest.mark.parametrize(("attribute", "share"), [("price", 0.5), ("sold", 0.025), ("title", 0.0)])
def test_frequency_is_the_share_of_events_that_carry_it(attribute, share):
    assert HISTORY.frequency(attribute) == share


def test_before_the_first_event_nothing_is_known():
    assert Statistics(events=0, predicates={"a = 1": 0}).selectivity("a = 1") is None
    assert Statistics(events=0).frequency("price") is None


def test_the_json_form_reads_back():
    again = msgspec.json.decode(msgspec.json.encode(HISTORY), type=Statistics)
    assert again == HISTORY
    assert list(map(type, bounds(again))) == list(map(type, bounds(HISTORY)))


def bounds(statistics: Statistics) -> list[Value]:
    return [
        bound
        for attribute in statistics.attributes.values()
        for bins in attribute.bins.values()
        for each in bins
        for bound in (each.low, each.high)
    ]
