import pytest

from boolcast import Matcher
from boolcast.errors import StoreError, UsageError
from boolcast.pipeline import apply_changes, build_index, count_matches, match
from boolcast.workloads import Auction
from tests.pipeline.contents import ROWS, pairs


@pytest.fixture(scope="module")
def auction(spark, tmp_path_factory):
    """An index of some size, its events, and what the engine says of them in process."""
    workload = Auction(seed=7)
    store = tmp_path_factory.mktemp("auction")
    build_index(spark.createDataFrame(workload.subscriptions(0, 3_000)), store, buckets=3)
    events = workload.events(0, 500)
    found = Matcher.load(store).match_batch(events).read_all().to_pydict()
    expected = sorted(zip(found["event"], found["subscription"], strict=True))
    numbered = events.append_column("id", [list(range(500))])
    return store, spark.createDataFrame(numbered).repartition(3), expected


def test_a_row_for_each_match(auction):
    store, events, expected = auction
    found = match(events, store, event_id="id")
    assert found.dtypes == [("id", "bigint"), ("subscription", "string")]
    assert pairs(found) == expected


def test_a_row_for_each_event(auction):
    store, events, expected = auction
    found = match(events, store, event_id="id", form="lists")
    assert found.dtypes == [("id", "bigint"), ("subscriptions", "array<string>")]
    assert sorted(row.id for row in found.collect()) == list(range(500))
    assert pairs(found) == expected


def test_counts(auction):
    store, events, expected = auction
    counts = {row.subscription: row.matches for row in count_matches(events, store).collect()}
    assert sum(counts.values()) == len(expected)
    assert all(
        counts[name] == sum(each == name for _, each in expected) for _, name in expected[:50]
    )


@pytest.mark.parametrize("form", ["rows", "lists"])
def test_groups_of_segments_give_the_same(auction, form):
    store, events, expected = auction
    assert pairs(match(events, store, event_id="id", form=form, memory=1)) == expected


def test_the_version_is_pinned(spark, tmp_path):
    build_index(spark.createDataFrame([("a", "x = 1")], ROWS), tmp_path)
    events = spark.createDataFrame([(7, 1)], "id int, x int")
    before = match(events, tmp_path, event_id="id")
    apply_changes(spark.createDataFrame([("a", None), ("b", "x = 1")], ROWS), tmp_path)
    assert [tuple(row) for row in before.collect()] == [(7, "a")]
    assert [tuple(row) for row in match(events, tmp_path, event_id="id").collect()] == [(7, "b")]
    assert match(events, tmp_path, event_id="id", version=1).collect() == before.collect()
    with pytest.raises(StoreError, match="no version 3"):
        match(events, tmp_path, event_id="id", version=3)


def test_what_cannot_be_matched_is_refused(spark, tmp_path):
    events = spark.createDataFrame([(7, 1)], "id int, subscription int")
    with pytest.raises(StoreError, match="there is no index in"):
        match(events, tmp_path, event_id="id")
    build_index(spark.createDataFrame([("a", "x = 1")], ROWS), tmp_path)
    with pytest.raises(UsageError, match="lacks the column 'key'"):
        match(events, tmp_path, event_id="key")
    with pytest.raises(UsageError, match="cannot be called 'subscription'"):
        match(events, tmp_path, event_id="subscription")
    with pytest.raises(UsageError, match="cannot be called 'Subscription'"):
        match(events.withColumnRenamed("id", "Subscription"), tmp_path, event_id="Subscription")
    for made in ("make_interval(id)", "array(make_ym_interval(id))"):
        with pytest.raises(UsageError, match="cannot be sent to Python"):
            match(events.selectExpr(f"{made} as id"), tmp_path, event_id="id")
    with pytest.raises(UsageError, match="must hold JSON as strings, but its type is int"):
        match(events, tmp_path, event_id="id", json="subscription")


@pytest.mark.parametrize("is_gone", [False, True])
def test_an_index_with_files_missing_or_cut_off_is_told_at_the_call(spark, tmp_path, is_gone):
    build_index(spark.createDataFrame([("a", "x = 1"), ("b", "x = 2")], ROWS), tmp_path)
    apply_changes(spark.createDataFrame([("a", None)], ROWS), tmp_path)
    events = spark.createDataFrame([(7, 1)], "id int, x int")
    for target in sorted(tmp_path.glob("segments/*/*.npy")):
        data = target.read_bytes()
        target.unlink()
        if not is_gone:
            target.write_bytes(data[:-1])
        problem = "it is missing" if is_gone else f"bytes instead of {len(data):,}"
        with pytest.raises(StoreError, match=f"{target} is damaged: .*{problem}"):
            match(events, tmp_path, event_id="id")
        target.write_bytes(data)
    assert match(events, tmp_path, event_id="id").count() == 0
