import datetime as dt
from hashlib import sha256

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from boolcast.errors import UsageError
from boolcast.pipeline import build_index, count_matches, match, match_rejects, parquet_files
from boolcast.pipeline.events.parquet_reading import Piece
from boolcast.pipeline.statistics.distributions import count_values
from boolcast.workloads import Auction
from tests.pipeline.contents import ROWS, pairs

EVENTS = 3_000


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    """A folder of two files with several row groups each, and an index."""
    root = tmp_path_factory.mktemp("a lake%20")
    workload = Auction(seed=7)
    build_index(spark.createDataFrame(workload.subscriptions(0, 2_000)), root / "index")
    table = workload.events(0, EVENTS).append_column("id", [list(range(EVENTS))])
    (root / "events").mkdir()
    pq.write_table(table.slice(0, 1_000), root / "events" / "a b.parquet", row_group_size=150)
    pq.write_table(table.slice(1_000), root / "events" / "c.parquet", row_group_size=700)
    (root / "events" / "_SUCCESS").touch()
    return root


def test_all_events_are_read_once_however_files_are_split(spark, lake):
    files = parquet_files(spark, str(lake / "events"))
    expected = pairs(match(files.frame, lake / "index", event_id="id"))
    assert expected
    for size in (1, 5_000, 60_000):
        cut = tuple(
            Piece(piece.path, begin, min(begin + size, piece.end))
            for piece in files.pieces
            for begin in range(0, piece.end, max(size, piece.end // 40))
        )
        # The last range of each file ends where the file does.
        whole = tuple(
            piece._replace(end=following.begin if following.path == piece.path else 2**62)
            for piece, following in zip(cut, (*cut[1:], Piece("", 0, 0)), strict=True)
        )
        assert pairs(match(files._replace(pieces=whole), lake / "index", event_id="id")) == expected


def test_large_files_become_several_tasks(spark, lake, monkeypatch):
    monkeypatch.setattr("boolcast.pipeline.events.parquet_reading._SMALLEST", 20_000)
    files = parquet_files(spark, str(lake / "events"))
    assert len(files.pieces) > 2
    expected = pairs(match(files.frame, lake / "index", event_id="id"))
    found = match(files, lake / "index", event_id="id")
    assert found.rdd.getNumPartitions() == len(files.pieces)
    assert pairs(found) == expected


def test_values_are_counted_alike(spark, lake):
    files = parquet_files(spark, str(lake / "events"))
    columns = ["attribute", "kind", "key", "events"]
    ours = {tuple(row) for row in count_values(files).select(columns).collect()}
    assert ours == {tuple(row) for row in count_values(files.frame).select(columns).collect()}


def test_json_in_a_column(spark, tmp_path):
    build_index(spark.createDataFrame([("a", "x = 1")], ROWS), tmp_path / "index")
    texts = ['{"x": 1}', '{"x": 2}', "{", None]
    pq.write_table(pa.table({"id": range(4), "text": texts}), tmp_path / "events.parquet")
    files = parquet_files(spark, str(tmp_path / "events.parquet"))
    found = match(files, tmp_path / "index", event_id="id", json="text")
    assert [tuple(row) for row in found.collect()] == [(0, "a")]
    rejects = match_rejects(files, tmp_path / "index", event_id="id", json="text").collect()
    assert sorted(row.id for row in rejects) == [2, 3]


def test_ids_are_of_the_type_that_spark_says(spark, tmp_path):
    build_index(spark.createDataFrame([("a", "x = 1")], ROWS), tmp_path / "index")
    at = dt.datetime(2026, 11, 15, 12, tzinfo=dt.UTC)
    columns = {
        "number": pa.array([7], pa.uint8()),
        "at": pa.array([at], pa.timestamp("ms", "UTC")),
        "name": pa.array(["n"]).dictionary_encode(),
        "x": pa.array([1]),
    }
    pq.write_table(pa.table(columns), tmp_path / "events.parquet")
    files = parquet_files(spark, str(tmp_path / "events.parquet"))
    for name in ("number", "at", "name"):
        ours = match(files, tmp_path / "index", event_id=name)
        spark_s = match(files.frame, tmp_path / "index", event_id=name)
        assert ours.schema == spark_s.schema
        assert ours.collect() == spark_s.collect()


def test_a_file_that_lacks_a_column_has_no_such_attribute(spark, tmp_path):
    build_index(
        spark.createDataFrame([("a", "x = 1"), ("b", "y is null")], ROWS), tmp_path / "index"
    )
    (tmp_path / "events").mkdir()
    pq.write_table(pa.table({"id": [1], "x": [1], "y": [1]}), tmp_path / "events" / "a.parquet")
    pq.write_table(pa.table({"x": [1]}), tmp_path / "events" / "b.parquet")
    files = parquet_files(spark, str(tmp_path / "events"))
    found = [tuple(row) for row in match(files, tmp_path / "index", event_id="id").collect()]
    assert sorted(found, key=str) == [(1, "a"), (None, "a"), (None, "b")]


@pytest.mark.parametrize("name", ["day", "Day"])
def test_folders_that_are_partitions_are_refused(spark, tmp_path, name):
    events = spark.createDataFrame([(1, "x"), (2, "y")], f"id int, {name} string")
    place = tmp_path / "run=5" / "events"
    events.write.partitionBy("day").parquet(str(place))
    with pytest.raises(UsageError, match="'day' is in the names of folders"):
        parquet_files(spark, str(place))


def test_a_folder_above_may_be_called_like_a_partition(spark, tmp_path):
    build_index(spark.createDataFrame([("a", "x = 1")], ROWS), tmp_path / "index")
    place = tmp_path / "run=5" / "events"
    spark.createDataFrame([(1, 1)], "id int, x int").write.parquet(str(place))
    found = match(parquet_files(spark, str(place)), tmp_path / "index", event_id="id")
    assert [tuple(row) for row in found.collect()] == [(1, "a")]


def test_letters_of_either_case_are_the_same_column(spark, tmp_path):
    build_index(spark.createDataFrame([("a", "x = 1")], ROWS), tmp_path / "index")
    (tmp_path / "events").mkdir()
    pq.write_table(pa.table({"id": [1], "x": [1]}), tmp_path / "events" / "a.parquet")
    pq.write_table(pa.table({"ID": [2], "X": [1]}), tmp_path / "events" / "b.parquet")
    files = parquet_files(spark, str(tmp_path / "events"))
    expected = pairs(match(files.frame, tmp_path / "index", event_id="id"))
    assert (
        pairs(match(files, tmp_path / "index", event_id="id")) == expected == [(1, "a"), (2, "a")]
    )


def test_types_are_those_that_spark_sees(spark, tmp_path):
    """Arrow leaves notes in its files that Spark does not read: a duration is a number."""
    texts = {"a": "d = 5", "b": "u = 255", "c": "s = 'n'", "d": "t > timestamp '1970-01-01'"}
    build_index(spark.createDataFrame(list(texts.items()), ROWS), tmp_path / "index")
    columns = {
        "id": [1],
        "d": pa.array([5], pa.duration("us")),
        "u": pa.array([255], pa.uint8()),
        "s": pa.array(["n"]).dictionary_encode(),
        "t": pa.array([1], pa.timestamp("us", "Europe/Berlin")),
    }
    pq.write_table(pa.table(columns), tmp_path / "events.parquet")
    files = parquet_files(spark, str(tmp_path / "events.parquet"))
    expected = pairs(match(files.frame, tmp_path / "index", event_id="id"))
    assert pairs(match(files, tmp_path / "index", event_id="id")) == expected
    assert expected == [(1, name) for name in texts]


def test_events_are_counted_from_files(spark, lake):
    files = parquet_files(spark, str(lake / "events"))
    ours = {tuple(row) for row in count_matches(files, lake / "index").collect()}
    assert ours == {tuple(row) for row in count_matches(files.frame, lake / "index").collect()}


def test_strings_come_as_they_are_stored_where_they_are_few(tmp_path):
    rows = range(20_000)
    table = pa.table(
        {
            "few": [None if row % 7 == 0 else f"few {row % 5}" for row in rows],
            "many": [f"many {sha256(str(row).encode()).hexdigest()}" for row in rows],
            "inner": [{"few": f"few {row % 5}", "many": "one"} for row in rows],
        }
    )
    pq.write_table(table, tmp_path / "events.parquet", row_group_size=12_000)
    piece = Piece(str(tmp_path / "events.parquet"), 0, 2**62)
    batches = list(piece.batches(table.column_names))
    assert {pa.types.is_dictionary(batch.column(0).type) for batch in batches} == {True}
    for place in (1, 2):
        assert {batch.column(place).type for batch in batches} == {table.column(place).type}
    assert [row for batch in batches for row in batch.to_pylist()] == table.to_pylist()


@pytest.mark.parametrize(
    ("size", "most"), [(1, 30_000), (100, 30_000), (1_000, 4_200), (8_000, 1_024)]
)
def test_a_task_holds_so_many_bytes_at_a_time(tmp_path, size, most):
    texts = pa.array([f"{row:>{size}}" for row in range(30_000)])
    path = tmp_path / "events.parquet"
    pq.write_table(pa.table({"text": texts, "other": texts}), path, use_dictionary=False)
    batches = list(Piece(str(path), 0, 2**62).batches(["text"]))
    assert max(batch.num_rows for batch in batches) == pytest.approx(most, rel=0.01)
    assert sum(batch.num_rows for batch in batches) == 30_000
