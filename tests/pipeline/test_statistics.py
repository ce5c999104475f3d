"""What Spark learns is what brute force learns, and the engine takes it."""

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from boolcast.errors import BoolcastError, FileError, UsageError
from boolcast.filters.expressions import Filter
from boolcast.filters.parsing import parse
from boolcast.matching.matcher import Matcher
from boolcast.model.events import Event
from boolcast.model.statistics import Statistics, SubscriptionStatistics
from boolcast.pipeline import (
    read_statistics,
    read_subscription_statistics,
    write_statistics,
)
from boolcast.pipeline.spark import workloads
from boolcast.workloads import Diverse
from tests.pipeline.statistics_oracle import statistics_of, use_of

FILTERS = {
    "s1": "price < 25 and title = 'Dune'",
    "s2": "price < 25.0 or price is null",
    "s3": "not (price >= 25 and contains(title, 'u'))",
    "s4": "bid > reserve and item.weight between 1 and 3",
    "s5": "reserve < bid or matches(title, '^D')",
    "s6": "seen >= timestamp '2026-01-01' and sold = true",
    "s7": "tags is not null and title like 'D%'",
    "s8": "true",
    "s9": "price = 9007199254740993 or price != 9007199254740992 or price in (1, 2, 3)",
}
BINS = 4


def rows_of(filters: Mapping[str, str | None]) -> list[tuple[str, str | None]]:
    return list(filters.items())


def trees(filters: Mapping[str, str]) -> dict[str, Filter]:
    return {name: parse(text) for name, text in filters.items()}


@pytest.fixture(scope="module")
def subscriptions(spark):
    return spark.createDataFrame(rows_of(FILTERS), "subscription string, filter string")


JSON_EVENTS: list[dict[str, Any]] = [
    {},
    {"price": None},
    {"price": True, "sold": True},
    {"price": "24", "title": "Dune"},
    *({"price": price, "title": "Dune"} for price in (24, 24.0, 25, 2**53, 2**53 + 1, 0, -0.0)),
    *({"price": price} for price in (1e400, -1e400, 24.5, -3, 2**63 - 1, 1e300, 2)),
    *({"title": text} for text in ("Dracula", "dune", "", "日本", "Dune", "𝄞", "\uffff")),
    *({"bid": bid, "reserve": 3, "item": {"weight": bid}} for bid in range(7)),
    {"bid": "x", "reserve": "a"},
    {"tags": [1, 2], "seen": "2026-01-01", "sold": False},
    {"tags": {"of": []}, "price": [1]},
]
BAD_JSON = [None, "", "[1]", '{"a": ', '{"a.b": 1, "a": {"b": 2}}', "null"]


def test_of_json_with_every_kind(spark, subscriptions, tmp_path):
    good = [json.dumps(event).replace("Infinity", "1e400") for event in JSON_EVENTS]
    texts = [*BAD_JSON, *good]
    place = str(tmp_path / "statistics")
    events = spark.createDataFrame([(text,) for text in texts], "body string").repartition(3)
    write_statistics(place, events=events, subscriptions=subscriptions, json="body", bins=BINS)
    seen = [Event.from_json(text) for text in good]
    assert any(value in (math.inf, -math.inf) for event in seen for value in event.values())
    expected = statistics_of(seen, trees(FILTERS).values(), BINS)
    found = read_statistics(place)
    assert found == expected
    assert (found.predicates["price < 25"], found.predicates["title = 'Dune'"]) == (8, 9)
    (summary,) = pq.read_table(f"{place}/summary").to_pylist()
    assert summary == {
        "events": len(seen),
        "malformed_events": len(BAD_JSON),
        "subscriptions": len(FILTERS),
        "rejected_subscriptions": 0,
    }
    assert not list((tmp_path / "statistics" / "index").rglob("*.npy"))


def test_of_columns_of_every_type(spark, subscriptions, tmp_path):
    noon = datetime(2026, 1, 31, 12, tzinfo=UTC)
    table = pa.table(
        {
            "price": pa.array([1.5, math.nan, math.inf, -math.inf, None, 24.0, -0.0, 0.0]),
            "title": pa.array(["Dune", "Dune", None, "", "日本", "Dracula", "Dune", "Dune"]),
            "bid": pa.array([1, 2, 3, 4, None, 2**53 + 1, 7, 2**53], pa.int64()),
            "reserve": pa.array([Decimal("1.50"), None, *[Decimal("3.00")] * 6]),
            "seen": pa.array([noon, None] * 4, pa.timestamp("us", "UTC")),
            "day": pa.array([noon.date(), None] * 4, pa.date32()),
            "sold": pa.array([True, False, None, True, True, None, False, True]),
            "tags": pa.array([[1], [], None, [2], [3], None, None, [4]]),
            "raw": pa.array([b"a", None] * 4),
            "item": pa.array([{"weight": n, "deep": {"er": None}} for n in range(7)] + [None]),
        }
    )
    place = str(tmp_path)
    events = spark.createDataFrame(table).repartition(2)
    write_statistics(place, events=events, subscriptions=subscriptions, bins=BINS)
    seen = [Event.from_python(_without_nan_dates(row)) for row in table.to_pylist()]
    assert read_statistics(place) == statistics_of(seen, trees(FILTERS).values(), BINS)


def _without_nan_dates(row: dict[str, Any]) -> dict[str, Any]:
    item = row["item"]
    return row | {"item": None if item is None else {"weight": item["weight"]}}


@pytest.mark.long
def test_many_values_and_filters_of_a_workload(spark, tmp_path):
    workload = Diverse(seed=4)
    place = str(tmp_path)
    write_statistics(
        place,
        events=workloads.events(spark, workload, 600, partitions=3).drop("event"),
        subscriptions=workloads.subscriptions(spark, workload, 150, partitions=2),
        bins=16,
    )
    filters = {f"s{i}": filter for i, filter in enumerate(workload.subscription_filters(0, 150))}
    seen = [workload.event(row) for row in range(600)]
    assert read_statistics(place) == statistics_of(seen, filters.values(), 16)
    assert_same_use(read_subscription_statistics(place), use_of(filters))


def assert_same_use(found: SubscriptionStatistics, expected: SubscriptionStatistics) -> None:
    """Equal but for the last bit of sums in another order."""
    assert found.subscriptions == expected.subscriptions
    assert found.predicates == expected.predicates
    assert found.attributes.keys() == expected.attributes.keys()
    for name, use in expected.attributes.items():
        same = msgspec.structs.replace(
            found.attributes[name], concentration=pytest.approx(use.concentration)
        )
        assert same == use


def test_of_subscriptions_alone(spark, tmp_path):
    """Rows that `build_index` would not take do not count."""
    rows = [
        *rows_of(FILTERS),
        ("s1", "PRICE < 1"),
        ("s2", "(price<25.0)   or price is null"),
        ("bad", "price <"),
        ("none", None),
        (None, "price < 1"),
    ]
    place = str(tmp_path)
    subscriptions = spark.createDataFrame(rows, "subscription string, filter string")
    write_statistics(place, subscriptions=subscriptions)
    expected = use_of({name: f for name, f in trees(FILTERS).items() if name != "s1"})
    assert_same_use(read_subscription_statistics(place), expected)
    (summary,) = pq.read_table(f"{place}/summary").to_pylist()
    assert summary["rejected_subscriptions"] == 5
    assert {row["matches"] for row in pq.read_table(f"{place}/predicates").to_pylist()} == {None}
    with pytest.raises(FileError, match="of subscriptions only"):
        read_statistics(place)


def test_the_engine_chooses_cuts_by_them(spark, tmp_path):
    """`kind = 'rare'` is the better cut, though nothing in the filter says so."""
    rows = [("rare" if i == 7 else "usual", "x") for i in range(100)]
    place = str(tmp_path)
    events = spark.createDataFrame(rows, "kind string, label string")
    write_statistics(place, events=events)
    matcher = Matcher(statistics=read_statistics(place))
    matcher.add("s", "label = 'x' and kind = 'rare'")
    matcher.merge()
    (one,) = matcher.stats().expensive
    assert one.share < 0.1
    assert read_statistics(place).predicates == {}
    assert read_subscription_statistics(place).subscriptions == 0


def test_without_anything_to_learn_from(tmp_path):
    with pytest.raises(UsageError):
        write_statistics(str(tmp_path))
    with pytest.raises(FileError, match="no statistics"):
        read_statistics(str(tmp_path))
    with pytest.raises(BoolcastError):
        read_subscription_statistics(str(tmp_path / "nowhere"))


def test_an_empty_history_knows_that_it_is_empty(spark, subscriptions, tmp_path):
    place = str(tmp_path)
    events = spark.createDataFrame([], "price double")
    write_statistics(place, events=events, subscriptions=subscriptions)
    found = read_statistics(place)
    assert found.events == 0
    assert set(found.predicates.values()) == {0}
    assert found.selectivity("price < 25") is None
    assert isinstance(found, Statistics)
