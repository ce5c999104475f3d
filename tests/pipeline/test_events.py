"""Events as they come: JSON, columns of all kinds, and malformed ones."""

import pytest
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from boolcast import Schema
from boolcast.errors import UsageError
from boolcast.pipeline import (
    build_index,
    count_matches,
    match,
    match_rejects,
    match_with_rejects,
)
from tests.pipeline.contents import ROWS, pairs


@pytest.fixture
def index(spark, tmp_path):
    """A function that makes an index of filters, each its own id."""

    def make(*filters: str):
        build_index(spark.createDataFrame([(each, each) for each in filters], ROWS), tmp_path)
        return tmp_path

    return make


LINES = [
    ("good", '{"a": 1, "item": {"price": 5}}'),
    ("corrupt", '{"a": 1'),
    ("null", None),
    ("empty", ""),
    ("array", "[1]"),
    ("clash", '{"item.price": 1, "item": {"price": 2}}'),
    ("deep", '{"a":' * 70 + "1" + "}" * 70),
    ("surrogate", '{"a": "\\ud800"}'),
    ("other", '{"a": "1", "unknown": [1, {"b": 2}]}'),
    ("missing", "{}"),
]
BAD = {"corrupt", "null", "empty", "array", "clash", "deep", "surrogate"}


@pytest.mark.parametrize("kind", ["string", "binary"])
def test_events_in_json(spark, index, kind):
    store = index("a = 1", "a is null", "item.price > 4", "a is not null")
    events = spark.createDataFrame(LINES, "key string, line string").repartition(3)
    events = events.withColumn("line", F.col("line").cast(kind))
    expected = [
        *[("good", "a = 1"), ("good", "a is not null"), ("good", "item.price > 4")],
        *[("missing", "a is null"), ("other", "a is not null")],
    ]
    assert pairs(match(events, store, event_id="key", json="line")) == expected
    rejects = match_rejects(events, store, event_id="key", json="line")
    assert rejects.dtypes == [("key", "string"), ("event", "string"), ("error", "string")]
    found = {row.key: row for row in rejects.collect()}
    assert found.keys() == BAD
    assert all(found[name].event == dict(LINES)[name] for name in BAD)
    assert found["null"].error == "the event is null"
    assert "given twice" in found["clash"].error
    assert "deeper than 64" in found["deep"].error
    counts = {row[0]: row[1] for row in count_matches(events, store, json="line").collect()}
    assert counts == {"a = 1": 1, "a is null": 1, "item.price > 4": 1, "a is not null": 2}


def test_bytes_that_are_not_utf8_are_told_readably(spark, index):
    store = index("a = 1")
    events = spark.sql("select 1 id, x'7b2261223aff7d' line")
    (row,) = match_rejects(events, store, event_id="id", json="line").collect()
    assert row.event == '{"a":\ufffd}'


def test_both_in_one_pass(spark, index):
    store = index("a = 1", "a is null")
    events = spark.createDataFrame(LINES, "key string, line string")
    for form in ("rows", "lists"):
        both = match_with_rejects(events, store, event_id="key", json="line", form=form)
        assert pairs(both.where("error is null")) == [("good", "a = 1"), ("missing", "a is null")]
        assert {row.key for row in both.where("error is not null").collect()} == BAD


def test_strings_in_json_are_timestamps_where_the_schema_says_so(spark, index):
    store = index("at > timestamp '2026-01-01'")
    events = spark.createDataFrame([(1, '{"at": "2026-02-01T00:00:00Z"}')], "id int, line string")
    schema = Schema.from_json('{"attributes": {"at": {"kind": "timestamp"}}}')
    assert pairs(match(events, store, event_id="id", json="line")) == []
    assert len(pairs(match(events, store, event_id="id", json="line", schema=schema))) == 1
    with pytest.raises(UsageError, match="a schema is for events in JSON"):
        match(events, store, event_id="id", schema=schema)


def test_only_what_the_index_needs_is_computed(spark, index):
    store = index("a = 1", "item.price > 4", 'matches(b, "x") or c > d'.replace('"', "'"))
    events = spark.range(3).select(
        "id",
        F.lit(1).alias("a"),
        F.struct(F.lit(5).alias("price"), F.raise_error(F.lit("computed")).alias("other")).alias(
            "item"
        ),
        F.lit(2).alias("c"),
        F.lit(1).alias("d"),
        F.raise_error(F.lit("computed")).alias("unused"),
    )
    assert len(pairs(match(events, store, event_id="id"))) == 9


def test_names_are_told_by_case_and_place(spark, index):
    store = index("a = 1", "A = 2", "s.x = 3", "s.X = 4", "S is null", "Id is null", "id is null")
    events = spark.sql("select 7 id, 1 a, 2 A, named_struct('x', 3, 'X', 4) s")
    assert [name for _, name in pairs(match(events, store, event_id="id"))] == [
        *("A = 2", "Id is null", "S is null", "a = 1", "s.X = 4", "s.x = 3")
    ]


def test_an_attribute_from_two_columns(spark, index):
    store = index("a = 1", "item.price = 1", "a is null")
    events = spark.sql(
        "select 1 id, 1 a, cast(null as int) a, named_struct('price', 1) item, null `item.price`"
        " union all select 2, null, 1, null, 1"
        " union all select 3, 1, 1, null, null"
        " union all select 4, null, null, named_struct('price', 1), 1"
    )
    assert pairs(match(events, store, event_id="id")) == [
        *[(1, "a = 1"), (1, "item.price = 1"), (2, "a = 1"), (2, "item.price = 1")]
    ]
    rejects = {row.id: row for row in match_rejects(events, store, event_id="id").collect()}
    assert rejects.keys() == {3, 4}
    assert "(at item.price)" in rejects[4].error
    assert rejects[4].event is None


def test_a_clash_in_what_no_filter_needs_is_one_all_the_same(spark, index):
    store = index("a = 1")
    events = spark.sql("select 1 id, 1 a, 2 `i.p`, named_struct('p', 1) i")
    assert pairs(match(events, store, event_id="id")) == []
    assert match_rejects(events, store, event_id="id").count() == 1


def test_values_of_no_known_kind_are_there(spark, index):
    store = index("a is null", "a is not null", "a = 1", "a = 'x'", "not (a = 1)")
    values = [
        *("array(1)", "map('a', 1)", "x'00'", "interval 1 month", "interval 1 day"),
        *("parse_json('1')", "make_interval(1, 2, 3)", "time'10:00:00'"),
    ]
    for value in values:
        events = spark.sql(f"select 1 id, {value} a")
        assert pairs(match(events, store, event_id="id")) == [(1, "a is not null")], value
    assert pairs(match(spark.sql("select 1 id, null a"), store, event_id="id")) == [
        (1, "a is null")
    ]


def test_a_column_that_is_gone_or_of_another_type_is_no_error(spark, index):
    store = index("a = 1", "a is null", "b > 'x'")
    for query, expected in {
        "select 1 id, 1 a, 'y' b": ["a = 1", "b > 'x'"],
        "select 1 id, 'y' b": ["a is null", "b > 'x'"],
        "select 1 id, '1' a, 5 b": [],
        "select 1 id": ["a is null"],
    }.items():
        events = spark.sql(query)
        assert [name for _, name in pairs(match(events, store, event_id="id"))] == expected
        assert {row[0] for row in count_matches(events, store).collect()} == set(expected)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        *[("'x'", "string"), ("cast(1.5 as decimal(5,2))", "decimal(5,2)"), ("null", "void")],
        *[("timestamp'2026-01-01'", "timestamp"), ("named_struct('p', 1)", "struct<p:int>")],
    ],
)
def test_the_id_keeps_its_name_and_type(spark, index, value, kind):
    store = index("a = 1")
    events = spark.sql(f"select {value} `the id`, 1 a")
    found = match(events, store, event_id="the id")
    assert found.dtypes == [("the id", kind), ("subscription", "string")]
    assert found.collect()[0][0] == events.collect()[0][0]


def test_no_subscriptions(spark, index):
    store = index()
    events = spark.sql("select 1 id, 1 a")
    assert match(events, store, event_id="id").collect() == []
    assert match(events, store, event_id="id", form="lists").collect()[0].subscriptions == []
    assert count_matches(events, store).collect() == []
