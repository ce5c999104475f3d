"""Law 6: Spark's result is the in-process result, whatever the partitioning and the batches.

Spark is slow, so an example is a whole workload: few of them, each with many events.
"""

from tempfile import TemporaryDirectory
from typing import Any, Final

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import sampled_from
from pyspark.sql import DataFrame, SparkSession

from boolcast import Matcher
from boolcast.errors import EventError
from boolcast.filters.expressions import Filter
from boolcast.filters.parsing import parse
from boolcast.pipeline import (
    ParquetFiles,
    apply_changes,
    build_index,
    count_matches,
    match,
    match_rejects,
    parquet_files,
)
from tests.matching.conformance import COLUMNS, PROBES, accepting_each, numbered_rows
from tests.pipeline.contents import ROWS, batches_of, filters_of, pairs
from tests.strategies import SMALL_NAMES, filters, predicates

EXAMPLES: Final = max(settings.default.max_examples // 50, 1)  # type: ignore[union-attr]

EVENTS: Final = 40


def is_extension(kind: pa.DataType) -> bool:
    return isinstance(kind, pa.BaseExtensionType)


TYPES: Final[dict[pa.DataType, tuple[object, ...]]] = {
    **{
        kind: values
        for kind, values in COLUMNS.items()
        if not any(
            test(kind)
            for test in (
                *(pa.types.is_unsigned_integer, pa.types.is_dictionary, pa.types.is_date64),
                *(pa.types.is_timestamp, pa.types.is_large_string, pa.types.is_string_view),
                *(pa.types.is_null, pa.types.is_decimal256, is_extension),
            )
        )
    },
    pa.timestamp("us"): (-1, 0, 1, 1_000_000),
    pa.timestamp("us", "UTC"): (-1, 0, 1, 1_000_000),
    pa.struct([("x", pa.int64())]): ({"x": 1}, {"x": None}, {"x": 2}),
    pa.struct([("x", pa.struct([("y", pa.float32())])), ("z", pa.string())]): (
        {"x": {"y": 1.0}, "z": "a"},
        {"x": None, "z": ""},
        {"x": {"y": None}, "z": None},
    ),
    pa.map_(pa.string(), pa.int32()): ([("x", 1)], []),
}
"""Types of Arrow that Spark has too, and values of theirs that bear on the filters."""


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """Events in columns of any types, with nulls; some give an attribute twice."""
    names = (*SMALL_NAMES, "a.x")
    columns = {"id": pa.array(range(EVENTS))}
    for name in draw(st.lists(sampled_from(names), unique=True, min_size=1)):
        kind = draw(sampled_from(list(TYPES)))
        value = sampled_from((None, *TYPES[kind]))
        columns[name] = pa.array(
            draw(st.lists(value, min_size=EVENTS, max_size=EVENTS)), kind, from_pandas=False
        )
    return pa.table(columns)


FILTERS: Final = st.one_of(
    filters(max_leaves=5, small=True), predicates(small=True), sampled_from(list(PROBES.values()))
)
IDS: Final = sampled_from([*(f"s{number}" for number in range(30)), "", "ü '\0"])
CHANGES: Final = st.dictionaries(IDS, st.one_of(st.none(), FILTERS), min_size=1, max_size=20)


def as_files(spark: SparkSession, events: DataFrame, folder: str) -> ParquetFiles:
    """The same events, written by Spark and read without it."""
    events.write.parquet(folder)
    return parquet_files(spark, folder)


def counts_of(counts: DataFrame) -> dict[str, int]:
    return {row.subscription: row.matches for row in counts.collect()}


def split(table: pa.Table) -> tuple[list[tuple[int, Any]], set[int]]:
    """The well-formed events by their numbers, and the numbers of the others."""
    good: list[tuple[int, Any]] = []
    bad: set[int] = set()
    for row in range(table.num_rows):
        try:
            good += [(row, event) for _, event in numbered_rows(table.slice(row, 1))]
        except EventError:
            bad.add(row)
    return good, bad


@settings(max_examples=EXAMPLES)
@given(
    table=tables(),
    subscriptions=st.dictionaries(IDS, FILTERS, min_size=10),
    partitions=sampled_from([1, 2, 7]),
    batch=sampled_from([1, 3, 10_000]),
    buckets=sampled_from([1, 2, 5]),
)
def test_spark_finds_what_the_engine_finds(spark, table, subscriptions, partitions, batch, buckets):
    subscriptions |= PROBES
    good, bad = split(table)
    expected = accepting_each(subscriptions, good)
    rows = [(name, str(filter)) for name, filter in subscriptions.items()]
    events = spark.createDataFrame(table).repartition(partitions)
    with TemporaryDirectory() as store, batches_of(spark, batch):
        build_index(spark.createDataFrame(rows, ROWS), store, buckets=buckets)
        assert pairs(match(events, store, event_id="id")) == expected
        assert pairs(match(events, store, event_id="id", form="lists", memory=1)) == expected
        names = [name for _, name in expected]
        counted = {name: names.count(name) for name in names}
        assert counts_of(count_matches(events, store, memory=20_000)) == counted
        files = as_files(spark, events, f"{store}/events")
        assert pairs(match(files, store, event_id="id")) == expected
        assert pairs(match(files, store, event_id="id", form="lists", memory=1)) == expected
        assert counts_of(count_matches(files, store)) == counted
        rejects = match_rejects(events, store, event_id="id").collect()
        assert {row.id for row in rejects} == bad
        assert {row.id for row in match_rejects(files, store, event_id="id").collect()} == bad
        assert all(
            "gives the attribute" in row.error or "two columns" in row.error for row in rejects
        )
        taken = table.take(pa.array([row for row, _ in good], pa.int64()))
        found = Matcher.load(store).match_batch(taken).read_all().to_pydict()
        numbers = [good[row][0] for row in found["event"]]
        assert sorted(zip(numbers, found["subscription"], strict=True)) == expected


@settings(max_examples=EXAMPLES)
@given(
    table=tables(),
    first=st.dictionaries(IDS, FILTERS),
    steps=st.lists(CHANGES, min_size=4, max_size=4),
    buckets=sampled_from([1, 3]),
    saved=st.booleans(),
)
def test_changes_end_where_a_dict_ends(spark, table, first, steps, buckets, saved):
    model: dict[str, Filter] = dict(first)
    good, _ = split(table)
    events = spark.createDataFrame(table).repartition(2)
    with TemporaryDirectory() as store:
        if saved:
            matcher = Matcher()
            for name, filter in first.items():
                matcher.add(name, filter)
            matcher.save(store)
        else:
            rows = [(name, str(filter)) for name, filter in first.items()]
            build_index(spark.createDataFrame(rows, ROWS), store, buckets=buckets)
        history = []
        for step in steps:
            asked = [(name, None if each is None else str(each)) for name, each in step.items()]
            report = apply_changes(spark.createDataFrame(asked, ROWS), store)
            deleted = {name for name, each in step.items() if each is None}
            assert report.deleted == len(deleted & model.keys())
            assert report.unknown == len(deleted - model.keys())
            assert report.upserted + report.unchanged == len(step) - len(deleted)
            model |= {name: each for name, each in step.items() if each is not None}
            model = {name: each for name, each in model.items() if name not in deleted}
            history.append(dict(model))
            assert report.subscriptions == len(model)
            held = {name: parse(text) for name, text in filters_of(store).items()}
            assert held == model
        for version in (2, 5):
            expected = accepting_each(history[version - 2], good)
            assert pairs(match(events, store, event_id="id", version=version)) == expected
