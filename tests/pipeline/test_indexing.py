from typing import Any

import pytest

from boolcast import Matcher
from boolcast.errors import StoreError, UsageError
from boolcast.filters.parsing import parse
from boolcast.matching.store.snapshots import versions
from boolcast.matching.store.store import FolderStore
from boolcast.pipeline import apply_changes, build_index
from tests.pipeline.contents import ROWS, filters_of, rejected


@pytest.fixture
def store(tmp_path):
    return tmp_path / "index"


def test_an_index_holds_the_rows(spark, store):
    rows = [("a", "price < 5"), ("b", "price > 7 and title = 'x'"), ("c", "false"), ("", "true")]
    report = build_index(spark.createDataFrame(rows, ROWS), store)
    assert (report.version, report.subscriptions, report.upserted) == (1, 4, 4)
    assert filters_of(store) == dict(rows)
    assert report.rejects.collect() == []


def test_an_empty_index_is_one(spark, store):
    report = build_index(spark.createDataFrame([], ROWS), store)
    assert (report.version, report.subscriptions) == (1, 0)
    assert len(Matcher.load(store)) == 0


@pytest.mark.parametrize("buckets", [1, 3, 50])
def test_the_number_of_buckets_does_not_matter(spark, store, buckets):
    rows = [(f"s{n}", f"price < {n % 7}") for n in range(100)]
    subscriptions = spark.createDataFrame(rows, ROWS).repartition(3)
    report = build_index(subscriptions, store, buckets=buckets)
    assert report.subscriptions == 100
    assert filters_of(store) == dict(rows)


def test_rows_that_cannot_be_taken_are_rejected_with_reasons(spark, store):
    rows: list[tuple[Any, ...]] = [
        ("good", "price < 5"),
        (None, "price < 6"),
        ("no filter", None),
        ("syntax", "price < and"),
        ("number", "price < 1e999"),
        ("too deep", "(" * 100 + "a = 1" + ")" * 100),
    ]
    report = build_index(spark.createDataFrame(rows, ROWS), store)
    assert (report.subscriptions, report.rejected) == (1, 5)
    assert filters_of(store) == {"good": "price < 5"}
    found = rejected(report)
    assert found.keys() == {None, "no filter", "syntax", "number", "too deep"}
    assert found[None] == ("price < 6", "the subscription's id is null")
    assert found["no filter"] == (None, "the filter is null")
    positions = {row.subscription: row.position for row in report.rejects.collect()}
    assert positions["syntax"] == 8
    assert "expected" in found["syntax"][1]


def test_strings_that_are_not_utf8_are_rejected(spark, store):
    rows = spark.sql(
        "select cast(x'61ff' as string) subscription, 'a = 1' filter"
        " union all select 'b', cast(x'61ff' as string) union all select 'c', 'a = 2'"
    )
    report = build_index(rows, store)
    assert rejected(report) == {
        "a\ufffd": ("a = 1", "the subscription is not valid UTF-8"),
        "b": ("a\ufffd", "the filter is not valid UTF-8"),
    }
    assert filters_of(store) == {"c": "a = 2"}


def test_rows_of_one_id(spark, store):
    rows = [
        *[("same", "price < 5")] * 3,
        *[("spaced", "price < 5"), ("spaced", "price  <  5")],
        *[("other", "price < 5"), ("other", "price < 6")],
        *[("kinds", "price = 1"), ("kinds", "price = true")],
        *[("half", "price < 5"), ("half", "price <")],
    ]
    report = build_index(spark.createDataFrame(rows, ROWS).repartition(5), store)
    assert filters_of(store).keys() == {"same", "spaced"}
    assert (report.subscriptions, report.duplicates, report.rejected) == (2, 3, 6)
    assert rejected(report).keys() == {"other", "kinds", "half"}
    assert "rows have this id and differ: keep one of them" in rejected(report)["other"][1]


def test_an_order_column_tells_which_row_counts(spark, store):
    rows = [
        *[("a", "price < 1", 1), ("a", "price < 2", 3), ("a", "price < 3", 2)],
        *[("null", "price < 1", None), ("null", "price < 2", -5)],
        *[("tie", "price < 1", 1), ("tie", "price < 2", 1), ("tie", "price < 3", 0)],
        *[("equal tie", "price < 1", 1), ("equal tie", "price < 1", 1)],
        *[("bad last", "price < 1", 1), ("bad last", "price <", 2)],
    ]
    frame = spark.createDataFrame(rows, ROWS + ", at int").repartition(3)
    report = build_index(frame, store, order="at")
    assert filters_of(store) == {"a": "price < 2", "null": "price < 2", "equal tie": "price < 1"}
    assert rejected(report).keys() == {"tie", "bad last"}
    assert (report.superseded, report.duplicates, report.rejected) == (5, 1, 3)


def test_changes(spark, store):
    build_index(
        spark.createDataFrame([(f"s{n}", f"price < {n}") for n in range(20)], ROWS),
        store,
        buckets=3,
    )
    expected = {f"s{n}": f"price < {n}" for n in range(20)}
    rows = [
        *[("s1", None, "delete"), ("s2", "ignored", "delete"), ("s1", None, "delete")],
        *[("s3", "price > 3", "upsert"), ("new", "price = 1", "upsert")],
        *[("s4", "price < 4", "upsert"), ("nobody", None, "delete")],
        *[("s5", "price <", "upsert"), ("s6", None, "upsert"), ("s7", "a = 1", "replace")],
        *[("s8", "a = 1", None), ("s9", "a = 1", "upsert"), ("s9", None, "delete")],
        (None, "a = 1", "upsert"),
    ]
    changes = spark.createDataFrame(rows, ROWS + ", operation string")
    report = apply_changes(changes, store)
    del expected["s1"], expected["s2"]
    expected |= {"s3": "price > 3", "new": "price = 1"}
    assert filters_of(store) == expected
    assert (report.version, report.subscriptions) == (2, len(expected))
    assert (report.upserted, report.unchanged, report.deleted, report.unknown) == (2, 1, 2, 1)
    assert (report.duplicates, report.rejected) == (1, 7)
    assert rejected(report).keys() == {None, "s5", "s6", "s7", "s8", "s9"}


def test_without_an_operation_a_null_filter_deletes(spark, store):
    build_index(spark.createDataFrame([("a", "x = 1"), ("b", "x = 2")], ROWS), store)
    report = apply_changes(spark.createDataFrame([("a", None), ("b", "x = 3")], ROWS), store)
    assert filters_of(store) == {"b": "x = 3"}
    assert (report.upserted, report.deleted) == (1, 1)


def test_changes_write_only_what_is_new(spark, store):
    rows = [(f"s{n}", f"price < {n}") for n in range(2_000)]
    build_index(spark.createDataFrame(rows, ROWS), store, buckets=4)
    before = set(FolderStore(store).list("segments/"))
    apply_changes(spark.createDataFrame([("s7", None), ("s8", "price < 9")], ROWS), store)
    new = set(FolderStore(store).list("segments/")) - before
    assert before <= set(FolderStore(store).list("segments/"))
    size = sum(FolderStore(store).path(name).stat().st_size for name in new)
    whole = sum(FolderStore(store).path(name).stat().st_size for name in before)
    assert 0 < size < whole / 4


def test_what_is_built_again_is_not_written_again(spark, store):
    rows = [(f"s{n}", f"price < {n % 5}") for n in range(200)]
    build_index(spark.createDataFrame(rows, ROWS), store, buckets=2)
    before = FolderStore(store).list("segments/")
    shuffled = spark.createDataFrame(rows[::-1], ROWS).repartition(5)
    assert build_index(shuffled, store, buckets=2).version == 2
    assert FolderStore(store).list("segments/") == before
    assert filters_of(store) == dict(rows)


def test_an_old_version_stays_loadable(spark, store):
    build_index(spark.createDataFrame([("a", "x = 1")], ROWS), store)
    apply_changes(spark.createDataFrame([("a", None), ("b", "x = 2")], ROWS), store)
    assert "a" in Matcher.load(store, version=1)
    assert "b" not in Matcher.load(store, version=1)
    assert versions(FolderStore(store)) == [1, 2]


def test_a_saved_matcher_can_be_changed(spark, store):
    matcher = Matcher()
    for n in range(10):
        matcher.add(f"s{n}", f"price < {n}")
    matcher.save(store)
    apply_changes(spark.createDataFrame([("s3", None), ("s4", "price > 4")], ROWS), store)
    expected = {f"s{n}": f"price < {n}" for n in range(10) if n != 3} | {"s4": "price > 4"}
    assert filters_of(store) == expected
    changed = Matcher.load(store)
    assert sorted(changed.match({"price": 8})) == sorted(
        name for name, text in expected.items() if parse(text).accepts({"price": 8})
    )


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("select 1 as subscription, 'a = 1' as filter", "'subscription' must hold strings.* int"),
        ("select 'a' as subscription, 1.5 as filter", "'filter' must hold strings.* decimal"),
        ("select 'a' as subscription", "lacks the column 'filter'"),
        ("select 'a' as Subscription, 'a = 1' as filter", "lacks the column 'subscription'"),
        ("select 'a' as filter, 'b' as subscription, 'c' as filter", "2 columns 'filter'"),
    ],
)
def test_columns_are_checked(spark, store, query, problem):
    with pytest.raises(UsageError, match=problem):
        build_index(spark.sql(query), store)
    with pytest.raises(UsageError, match=problem):
        apply_changes(spark.sql(query), store)


def test_what_cannot_be_done_is_refused(spark, store):
    frame = spark.createDataFrame([("a", "x = 1", {"k": 1})], ROWS + ", at map<string,int>")
    with pytest.raises(UsageError, match="'at' of type map<string,int> has no order"):
        build_index(frame, store, order="at")
    with pytest.raises(UsageError, match="at least one bucket"):
        build_index(frame, store, buckets=0)
    with pytest.raises(StoreError, match="there is no index in"):
        apply_changes(frame, store)
