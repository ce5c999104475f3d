"""A stream's results are those of the in-process engine, each event once, by one version."""

import json
import shutil
import time
from datetime import datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import Row

from boolcast import Matcher, Schema
from boolcast.errors import StoreError, StreamError, UsageError
from boolcast.matching.store.snapshots import versions
from boolcast.matching.store.store import FolderStore
from boolcast.pipeline import (
    collect,
    read_batches,
    read_dead_letters,
    read_matches,
)
from boolcast.pipeline.streaming import delivery
from tests.pipeline.streams import SCHEMA, Scene, event


@pytest.fixture
def scene(tmp_path):
    return Scene(tmp_path)


def rows(frame):
    return [row.asDict() for row in frame.collect()]


def wait_for(condition, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)


def test_matches_are_those_of_the_engine_whatever_the_restarts(spark, scene):
    scene.save(cheap="price < 10")
    scene.put("a", map(event, range(100)))
    scene.put("b", map(event, range(100, 150)))
    first = scene.run(spark)
    scene.save(cheap="price < 20", third="title = 'title 3' or price > 45")
    scene.put("c", map(event, range(150, 250)))
    second = scene.run(spark)
    assert [(batch.batch, batch.version) for batch in first + second] == [(0, 1), (1, 1), (2, 2)]
    assert [batch.events for batch in first + second] == [100, 50, 100]
    scene.verify(rows(read_matches(spark, scene.output)), range(250))
    assert read_dead_letters(spark, scene.output).count() == 0


def test_nothing_new_is_no_batch(spark, scene):
    scene.save()
    assert scene.run(spark) == []
    assert read_matches(spark, scene.output).columns == ["id", "subscription", "version", "batch"]
    assert read_matches(spark, scene.output).count() == 0
    scene.put("empty", [])
    scene.put("no-match", [])
    scene.run(spark)
    assert read_matches(spark, scene.output).count() == 0


def test_a_version_takes_effect_while_the_stream_runs(spark, scene):
    scene.save()
    stream = scene.start(scene.source(spark), trigger=0.05)
    published = []

    def publishes(count):
        published.extend(stream.published())
        return len(published) >= count

    for turn in range(4):
        version = scene.save(cheap=f"price < {10 * turn}")
        scene.put(f"{turn}", map(event, range(turn * 100, turn * 100 + 100)))
        wait_for(lambda count=turn + 1: publishes(count))
        assert published[-1].version == version
    stream.stop()
    assert not stream.is_active
    scene.verify(rows(read_matches(spark, scene.output)), range(400))


def test_stopping_lets_the_batch_come_to_its_end(spark, scene):
    scene.save()
    for turn in range(8):
        scene.put(f"{turn:02}", map(event, range(turn * 10, turn * 10 + 10)))
    stream = scene.start(scene.source(spark), trigger=0.0)
    wait_for(lambda: stream._job.is_working)
    stream.stop()
    done = len(list(read_batches(scene.output)))
    assert 1 <= done < 8
    assert len(stream.published()) == done
    assert scene.leftovers() == set()
    assert len(scene.run(spark)) == 8 - done
    scene.verify(scene.rows(), range(80))


def test_stopping_within_a_batch_ends_it_in_few_words(spark, scene):
    """On a long text Spark's thread dies of an overflow, and prints a thousand lines."""
    scene.save()
    scene.put("a", map(event, range(20_000)))
    stream = scene.start(scene.source(spark), trigger=0.0)
    wait_for(lambda: stream._job.is_working)
    stream.stop(patience=0)
    assert list(read_batches(scene.output)) == []
    assert "_Stopping" in str(stream.query.exception())
    scene.run(spark)
    scene.verify(scene.rows(), range(20_000))


def test_malformed_events_are_dead_letters_with_their_reasons(spark, scene):
    scene.save(cheap="price < 10")
    scene.put(
        "mixed",
        [
            {"id": 1, "price": 5},
            "{garbage",
            {"id": 2, "price": 5, "item": {"price": 1}, "item.price": 2},
            "null",
            "[]",
            {"id": 3, "price": "text"},
        ],
    )
    stream = scene.start(scene.texts(spark), json="value")
    stream.wait()
    (batch,) = stream.published()
    assert (batch.events, batch.dead_letter_count) == (6, 4)
    found = read_matches(spark, scene.output).orderBy("id", "subscription").collect()
    assert found == [
        Row(id="1", subscription="all", version=1, batch=0),
        Row(id="1", subscription="cheap", version=1, batch=0),
        Row(id="3", subscription="all", version=1, batch=0),
    ]
    letters = read_dead_letters(spark, scene.output)
    assert letters.columns == ["id", "event", "error", "version", "batch"]
    reasons = {letter.event: letter.error for letter in letters.collect()}
    assert set(reasons) == {
        "{garbage",
        '{"id": 2, "price": 5, "item": {"price": 1}, "item.price": 2}',
        "null",
        "[]",
    }
    assert all(reasons.values())
    assert "item.price" in reasons['{"id": 2, "price": 5, "item": {"price": 1}, "item.price": 2}']
    assert {(letter.version, letter.batch) for letter in letters.collect()} == {(1, 0)}


def test_events_without_an_id_or_a_text_are_dead_letters(spark, scene):
    scene.save()
    scene.put("ids", [{"id": None, "price": 1.0}, {"id": 7, "price": 1.0}])
    nothing = scene.texts(spark).selectExpr("get_json_object(value, '$.id') as id", "null as value")
    stream = scene.start(nothing.selectExpr("id", "cast(value as string)"), json="value")
    stream.wait()
    letters = read_dead_letters(spark, scene.output).orderBy("id").collect()
    assert [(letter.id, letter.event) for letter in letters] == [(None, None), ("7", None)]
    assert all(letter.error for letter in letters)


def test_of_an_event_that_is_malformed_and_has_no_id_the_first_is_told(spark, scene):
    scene.save()
    scene.put("a", ["{garbage", "{}", {"id": 7}])
    texts = scene.texts(spark).selectExpr("get_json_object(value, '$.id') as id", "value")
    scene.start(texts, json="value").wait()
    letters = read_dead_letters(spark, scene.output).orderBy("event").collect()
    assert [(letter.id, letter.event) for letter in letters] == [(None, "{garbage"), (None, "{}")]
    assert "the JSON cannot be read" in letters[0].error
    assert letters[1].error == "the event has no id"
    assert [(row["id"], row["subscription"]) for row in scene.rows()] == [("7", "all")]


def test_attributes_may_come_and_go_and_change_their_type(spark, scene):
    scene.save(cheap="price < 10", red="colour = 'red'")
    drifting = [
        {"id": 1, "price": 5.0, "title": "x"},
        {"id": 2, "colour": "red"},
        {"id": 3, "price": "5", "colour": ["red"]},
        {"id": 4, "price": {"amount": 5}},
    ]
    for number, row in enumerate(drifting):
        scene.put(f"{number}", [row])
    scene.start(scene.texts(spark), json="value").wait()
    found = {(row["id"], row["subscription"]) for row in scene.rows()}
    assert found == {*((each, "all") for each in "1234"), ("1", "cheap"), ("2", "red")}


def test_columns_that_files_lack_are_missing_attributes(spark, scene):
    scene.save(cheap="price < 10", untitled="title is null")
    files = {
        "whole": [{"id": 1, "price": 5.0, "title": "x"}],
        "less": [{"id": 2, "price": 5.0}],
        "more": [{"id": 3, "price": 50.0, "title": "x", "colour": "red"}],
    }
    for name, values in files.items():
        pq.write_table(pa.Table.from_pylist(values), scene.events / f"{name}.parquet")
    source = spark.readStream.schema(SCHEMA).parquet(str(scene.events))
    scene.start(source).wait()
    found = {(row["id"], row["subscription"]) for row in scene.rows()}
    expected = {(1, "cheap"), (2, "cheap"), (2, "untitled"), *((each, "all") for each in (1, 2, 3))}
    assert found == expected


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("timestamp", datetime(1970, 1, 1, 0, 0, 3)),  # noqa: DTZ001 - as Spark gives it
        ("decimal(10,2)", Decimal("3.00")),
        ("struct<number: long>", Row(number=3)),
    ],
)
def test_an_id_of_any_type(spark, scene, kind, expected):
    # A struct nests: its fields are attributes, and `id` itself is none.
    scene.save(all="price is not null")
    scene.put("a", [event(3)])
    id_text = "named_struct('number', id)" if kind.startswith("struct") else f"cast(id as {kind})"
    stream = scene.start(scene.source(spark).selectExpr(f"{id_text} as id", "price"))
    stream.wait()
    (row,) = read_matches(spark, scene.output).collect()
    assert (row.id, row.subscription) == (expected, "all")


def test_an_id_that_cannot_be_sent_is_refused(spark, scene):
    scene.save()
    months = scene.source(spark).selectExpr("make_ym_interval(id) as id", "price")
    with pytest.raises(UsageError, match="type interval year to month, which cannot be sent"):
        scene.start(months)
    assert not scene.output.exists()


def test_large_results_become_several_files(tmp_path, monkeypatch):
    monkeypatch.setattr(delivery, "FILE_BYTES", 1_000)
    table = delivery._Table(FolderStore(tmp_path), "matches", 7, 2)
    rows = pa.RecordBatch.from_pydict(
        {
            "id": pa.array(range(100)),
            "subscription": pa.array(["a", "b"] * 50).dictionary_encode(),
        }
    )
    for _ in range(3):
        table.add(rows)
    table.close()
    assert [report["rows"] for report in table.reports] == [100, 100, 100]
    for report in table.reports:
        read = pq.read_table(tmp_path / str(report["name"]))
        assert read.column("subscription").to_pylist() == ["a", "b"] * 50
        assert set(read.column("version").to_pylist()) == {2}
        assert set(read.column("batch").to_pylist()) == {7}


def test_matches_as_lists(spark, scene):
    scene.save(cheap="price < 2")
    scene.put("a", [*map(event, range(3)), {"price": 1.0}])
    scene.run(spark, form="lists")
    found = read_matches(spark, scene.output).orderBy("id").collect()
    assert [(row.id, sorted(row.subscriptions), row.version, row.batch) for row in found] == [
        (0, ["all", "cheap"], 1, 0),
        (1, ["all", "cheap"], 1, 0),
        (2, ["all"], 1, 0),
    ]
    assert read_dead_letters(spark, scene.output).count() == 1


def test_without_an_index_nothing_starts(spark, scene):
    with pytest.raises(StoreError, match="there is no index in"):
        scene.run(spark)
    assert not scene.checkpoint.exists()
    assert not scene.output.exists()


def test_what_is_no_stream_is_refused(spark, scene):
    scene.save()
    frame = spark.createDataFrame([(1, 2.0)], "id long, price double")
    with pytest.raises(UsageError, match="for a table use match"):
        scene.start(frame)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"event_id": "name"}, "lacks the column 'name'; its columns are id, price, title"),
        ({"json": "price"}, "'price' must hold JSON as strings"),
        ({"form": "heap"}, "the form must be one of 'rows', 'lists', not 'heap'"),
    ],
)
def test_columns_that_do_not_fit_are_refused(spark, scene, changed, problem):
    scene.save()
    with pytest.raises(UsageError, match=problem):
        scene.start(scene.source(spark), **changed)


@pytest.mark.parametrize("trigger", [-1, float("nan"), float("inf"), 1e300])
def test_a_trigger_that_is_no_time_is_refused_before_anything_is_written(spark, scene, trigger):
    scene.save()
    with pytest.raises(UsageError, match="the trigger must be None or a number of seconds"):
        scene.start(scene.source(spark), trigger=trigger, form="lists")
    assert not scene.output.exists()


def test_a_stream_that_spark_does_not_start_leaves_the_output_to_others(spark, scene):
    scene.save()
    scene.put("a", map(event, range(10)))
    sorted_stream = scene.source(spark).orderBy("id")
    with pytest.raises(AnalysisException):
        scene.start(sorted_stream, form="lists")
    scene.run(spark)
    with pytest.raises(AnalysisException):
        scene.start(sorted_stream)
    scene.verify(rows(read_matches(spark, scene.output)), range(10))


def test_an_event_id_named_like_a_result_is_refused(spark, scene):
    scene.save()
    for name in ("batch", "Version"):
        events = scene.source(spark).withColumnRenamed("id", name)
        with pytest.raises(UsageError, match=f"cannot be called '{name}'"):
            scene.start(events, event_id=name)


class TestGoingOn:
    """Only the same stream may go on with a checkpoint and an output."""

    @pytest.fixture(autouse=True)
    def begun(self, spark, scene):
        scene.save()
        scene.put("a", map(event, range(10)))
        scene.run(spark)
        scene.put("b", map(event, range(10, 20)))

    @pytest.mark.parametrize(
        ("changed", "problem"),
        [
            ({"event_id": "title"}, "the event id of the stream was id and is now title"),
            ({"json": "title"}, "the JSON column of the stream was none and is now title"),
            ({"form": "lists"}, "the form of the stream was rows and is now lists"),
        ],
    )
    def test_other_settings_are_refused(self, spark, scene, changed, problem):
        with pytest.raises(StreamError, match=problem):
            scene.start(scene.source(spark), **changed)
        scene.verify(scene.rows(), range(10))

    def test_another_index_is_refused(self, spark, scene):
        other = scene.folder / "other"
        matcher = Matcher()
        matcher.add("all", "true")
        matcher.save(other)
        with pytest.raises(StreamError, match=r"the index of the stream was .*index and is now"):
            scene.start(scene.source(spark), store=other)

    @pytest.mark.parametrize(
        ("schema", "problem"),
        [
            ("id long, price string, title string", "price of the events was double and is now s"),
            ("id long, title string", "price of the events was double and is now gone"),
            ("id string, price double, title string", "id of the events was bigint and is now s"),
        ],
    )
    def test_a_column_that_changed_is_refused(self, spark, scene, schema, problem):
        with pytest.raises(StreamError, match=problem):
            scene.start(scene.source(spark, schema))

    def test_another_schema_is_refused(self, spark, scene):
        """The same text would be a timestamp now, and a string then."""
        schema = Schema.from_json(
            '{"attributes": {"at": {"kind": "timestamp", "minimum": "2026-01-01"}}}'
        )
        scene.output, scene.checkpoint = scene.folder / "texts", scene.folder / "texts-checkpoint"
        texts = scene.texts(spark)
        scene.start(texts, json="value", schema=schema).wait()
        for other in (None, Schema()):
            with pytest.raises(StreamError, match=r"the schema of the stream was .*timestamp"):
                scene.start(texts, json="value", schema=other)
        scene.start(texts, json="value", schema=schema).wait()
        record = scene.output / "stream.json"
        told = json.loads(record.read_bytes())
        del told["schema"]
        record.write_text(json.dumps(told))
        # As outputs were before they told the schema.
        scene.start(texts, json="value").wait()

    def test_a_new_column_is_welcome(self, spark, scene):
        stream = scene.start(scene.source(spark, f"{SCHEMA}, colour string"))
        stream.wait()
        scene.verify(scene.rows(), range(20))

    def test_a_checkpoint_begun_anew_is_refused(self, spark, scene):
        with pytest.raises(StreamError, match="does not belong to the checkpoint"):
            scene.start(scene.source(spark), checkpoint=str(scene.folder / "new"))
        scene.verify(scene.rows(), range(10))

    def test_another_output_is_refused(self, spark, scene):
        stream = scene.start(scene.source(spark), output=scene.folder / "new")
        with pytest.raises(StreamError, match=r"has done batch 0, but the output .*new lacks it"):
            stream.wait()
        assert scene.run(spark)[0].batch == 1
        scene.verify(scene.rows(), range(20))

    def test_an_older_checkpoint_is_refused(self, spark, scene):
        older = scene.folder / "older"
        shutil.copytree(scene.checkpoint, older)
        scene.run(spark)
        shutil.rmtree(scene.checkpoint)
        older.rename(scene.checkpoint)
        scene.put("c", map(event, range(20, 30)))
        for _ in range(2):
            with pytest.raises(StreamError, match=r"batch 1 is published in .* with other events"):
                scene.run(spark)
        scene.verify(scene.rows(), range(20))

    def test_a_checkpoint_of_which_only_the_name_is_left_is_refused(self, spark, scene):
        for part in scene.checkpoint.iterdir():
            if part.is_dir():
                shutil.rmtree(part)
            elif "boolcast" not in part.name:
                part.unlink()
        with pytest.raises(StreamError, match=r"batch 0 is published in .* with other events"):
            scene.run(spark)
        scene.verify(scene.rows(), range(10))

    @pytest.mark.parametrize("is_old", [False, True])
    def test_a_batch_that_spark_repeats_is_recognised(self, spark, scene, is_old):
        scene.run(spark)
        if is_old:
            # As outputs were before manifests told the offsets.
            manifest = scene.output / "batches" / "00000001.json"
            told = json.loads(manifest.read_bytes())
            del told["offsets"]
            manifest.write_text(json.dumps(told))
        for mark in ("1", ".1.crc"):
            (scene.checkpoint / "commits" / mark).unlink()
        scene.put("c", map(event, range(20, 30)))
        assert [batch.batch for batch in scene.run(spark)] == [2]
        scene.verify(scene.rows(), range(30))

    def test_a_damaged_record_is_told(self, spark, scene):
        (scene.output / "stream.json").write_text("{}")
        with pytest.raises(StreamError, match=r"stream\.json in .* is not what a stream wrote"):
            scene.start(scene.source(spark))


def test_a_damaged_version_is_passed_over_and_told_once(spark, scene):
    scene.save(cheap="price < 10")
    scene.put("a", map(event, range(50)))
    scene.run(spark)
    scene.save(cheap="price < 20")
    target, data = scene.damage(2)
    for turn in (1, 2):
        scene.put(f"b{turn}", map(event, range(50 * turn, 50 * turn + 50)))
    batches = scene.run(spark)
    assert [batch.version for batch in batches] == [1, 1]
    (warning,) = batches[0].warnings
    assert "version 2 of the index is skipped" in warning
    assert "its checksum is wrong" in warning
    assert batches[1].warnings == ()
    data[-1] ^= 1
    target.write_bytes(data)
    scene.put("c", map(event, range(150, 200)))
    assert [batch.version for batch in scene.run(spark)] == [2]
    scene.verify(scene.rows(), range(200))


def test_collecting_spares_what_a_stream_may_need(spark, scene):
    scene.save()
    scene.put("a", map(event, range(10)))
    scene.run(spark)
    for limit in (1, 2, 3):
        scene.save(cheap=f"price < {limit}")
    index = FolderStore(scene.index)
    with pytest.raises(UsageError, match="keep at least one version, not 0"):
        collect(scene.index, 0)
    collect(scene.index, 1, streams=[scene.output])
    assert versions(index) == [1, 2, 3, 4]
    scene.put("b", map(event, range(10, 20)))
    assert scene.run(spark)[0].version == 4
    collect(scene.index, 1, streams=[scene.output])
    assert versions(index) == [4]


def test_results_can_be_read_where_spark_sees_no_files(spark, scene):
    scene.save(cheap="price < 10")
    scene.put("a", map(event, range(100)))
    scene.run(spark)
    hidden = NoFiles(scene.output)
    scene.verify(rows(read_matches(spark, hidden)), range(100))
    assert read_dead_letters(spark, hidden).count() == 0


class NoFiles:
    """Like an object store: the bytes are there, and no paths."""

    def __init__(self, folder):
        self.store = FolderStore(folder)

    def get(self, name):
        return self.store.get(name)

    def path(self, name):
        return None

    def forget(self, name):
        return False

    def put_if_absent(self, name, data):
        return self.store.put_if_absent(name, data)

    def list(self, prefix):
        return self.store.list(prefix)

    def delete(self, name):
        self.store.delete(name)


def test_an_output_whose_name_looks_like_a_pattern(spark, scene):
    scene.save()
    scene.put("a", map(event, range(10)))
    # What the pattern would find must not be read in its place.
    names = ("out1", "out[1]", "a", "{a,b}*?\\x")
    for name in names:
        scene.checkpoint = scene.folder / "checkpoints" / name
        scene.output = scene.folder / name
        scene.run(spark)
        assert read_matches(spark, scene.output).count() == 10
        assert read_dead_letters(spark, scene.output).count() == 0


def test_reading_where_no_stream_wrote(spark, scene):
    with pytest.raises(StreamError, match="no stream has written to"):
        read_matches(spark, scene.output)
