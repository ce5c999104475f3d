"""A stream of Parquet files: each has columns of its own, and none of them ends the stream."""

import os
import re
import uuid
from datetime import timedelta

import pyarrow as pa
import pytest

from boolcast.errors import FileError, StoreError, StreamError, UsageError
from boolcast.pipeline import parquet_stream, read_batches, read_dead_letters, read_matches
from boolcast.pipeline.streaming.checkpoint_files import _changed
from boolcast.pipeline.streaming.version_pinning import VersionPinning
from tests.pipeline import contents
from tests.pipeline.streams import SCHEMA, Scene, event


@pytest.fixture
def scene(tmp_path):
    return Scene(tmp_path)


def events(*numbers):
    return pa.Table.from_pylist([event(number) for number in numbers])


def pairs(scene):
    return sorted((row["id"], row["subscription"]) for row in scene.rows())


def damage(path):
    """Nothing is left but the beginning."""
    time = path.stat().st_mtime_ns
    path.write_bytes(path.read_bytes()[:40])
    os.utime(path, ns=(time, time))


def test_whatever_comes_the_stream_goes_on(spark, scene):
    scene.save(cheap="price < 10", named="price = 'five'", untitled="title is null")
    scene.put_table("number", pa.table({"id": [1], "price": [5.0], "title": ["x"]}))
    scene.put_table("text", pa.table({"id": [2], "price": ["five"], "title": ["x"]}))
    scene.put_table("opaque", pa.table({"id": [3], "price": [[5.0]]}))
    scene.put_table("integer", pa.table({"id": pa.array([4], pa.int16()), "price": [5]}))
    scene.put_table("nested", pa.table({"id": [5], "price": [{"amount": 5.0}], "title": ["x"]}))
    damaged = scene.put_table("damaged", events(6))
    damage(damaged)
    nameless = scene.put_table("nameless", pa.table({"number": [7], "price": [5.0]}))
    scene.put_table("nulls", pa.table({"id": [8, None, 9], "price": [5.0, 5.0, 50.0]}))
    scene.put_table(
        "texts", pa.table({"id": ["10", "ten"], "price": [5.0, 5.0], "title": ["x"] * 2})
    )
    flags = scene.put_table("flags", pa.table({"id": [True], "price": [5.0]}))
    scene.put_table("last", pa.table({"id": [11], "colour": ["red"], "title": ["x"]}))
    stream = scene.start(scene.files(spark, files=4))
    stream.wait()
    assert [batch.events for batch in stream.published()] == [4, 6, 4]
    assert pairs(scene) == sorted(
        [
            *((each, "all") for each in (1, 2, 3, 4, 5, 8, 9, 10, 11)),
            *((each, "cheap") for each in (1, 4, 8, 10)),
            *((each, "untitled") for each in (3, 4, 8, 9)),
            (2, "named"),
        ]
    )
    told = {(row["batch"], row["id"], row["error"]) for row in scene.rows("dead_letters")}
    (of_damaged,) = (error for _, _, error in told if str(damaged) in error)
    others = (
        "its column 'id' has type bool, which cannot become bigint, the type of this stream's ids: "
        "write the file again with such a column, under a new name"
    )
    assert told == {
        (1, None, of_damaged),
        (1, None, f"no event of {nameless} can be read: it has no column 'id'"),
        (1, None, "the event has no id"),
        (2, None, "the id 'ten' cannot become type bigint"),
        (2, None, f"no event of {flags} can be read: {others}"),
    }
    assert of_damaged.startswith(f"no event of {damaged} can be read: Parquet magic bytes not")
    found = read_dead_letters(spark, scene.output)
    assert found.dtypes[0] == ("id", "bigint")
    assert found.count() == 5

    # What the next version asks for is in the files to come, and was not in those before.
    scene.save(red="colour = 'red'", nested="price.amount < 10")
    (scene.events / "number.parquet").unlink()
    scene.put_table("more", pa.table({"id": [20], "colour": ["red"], "price": [{"amount": 1}]}))
    stream = scene.start(scene.files(spark, files=10))
    stream.wait()
    (batch,) = stream.published()
    assert (batch.batch, batch.version, batch.events) == (3, 2, 1)
    assert [pair for pair in pairs(scene) if pair[0] == 20] == [
        *((20, name) for name in ("all", "nested", "red"))
    ]


def test_matches_are_those_of_the_engine_whatever_the_restarts(spark, scene):
    scene.save(cheap="price < 10")
    for number in range(5):
        table = events(*range(number * 40, number * 40 + 40))
        scene.put_table(f"{number}", table, row_group_size=15)
    scene.start(scene.files(spark, files=3)).wait()
    scene.save(cheap="price < 20", third="title = 'title 3' or price > 45")
    scene.put_table("5", events(*range(200, 240)))
    for mark in ("1", ".1.crc"):
        # As a driver that was killed leaves it: Spark repeats the batch.
        (scene.checkpoint / "commits" / mark).unlink()
    scene.start(scene.files(spark, SCHEMA, files=3)).wait()
    scene.verify((row.asDict() for row in read_matches(spark, scene.output).collect()), range(240))
    assert list(scene.rows("dead_letters")) == []


def test_a_file_that_goes_before_it_is_read_ends_the_stream(spark, scene, monkeypatch):
    """It may come back: a share that is not mounted must not cost all its events."""
    scene.save()
    path = scene.put_table("a", events(1))
    kept = path.read_bytes()
    pin = VersionPinning.pin

    def losing(versions, *arguments):
        path.unlink()
        return pin(versions, *arguments)

    monkeypatch.setattr(VersionPinning, "pin", losing)
    with pytest.raises(StreamError, match=r"a\.parquet.*Put the file back; then start") as caught:
        scene.start(scene.files(spark)).wait()
    assert "\n" not in str(caught.value)
    monkeypatch.undo()
    path.write_bytes(kept)
    scene.start(scene.files(spark)).wait()
    assert pairs(scene) == [(1, "all")]


class TestFilesOfARepeatedBatch:
    """Spark itself passes over what is gone when it repeats a batch, without a word."""

    @pytest.fixture
    def broken(self, scene, monkeypatch):
        """A function that breaks off a stream in its first batch."""

        def run(events):
            scene.save()
            with monkeypatch.context() as patch:
                patch.setattr(VersionPinning, "pin", raise_store_error)
                with pytest.raises(StoreError, match="broken off"):
                    scene.start(events).wait()

        def raise_store_error(*_):
            raise StoreError("broken off")

        return run

    @pytest.fixture(params=["workers", "spark"])
    def source(self, request, spark, scene):
        """Both readers, and a function that puts a file for them."""
        if request.param == "workers":
            return scene.files(spark, SCHEMA, files=10), lambda name, number: scene.put_table(
                name, events(number)
            )

        def put(name, number):
            scene.put(name, [event(number)])
            return scene.events / f"{name}.json"

        return scene.source(spark, files=10), put

    def test_one_that_is_gone_ends_the_stream(self, scene, source, broken):
        stream, put = source
        gone, kept = put("a", 1), put("b", 2)
        broken(stream)
        data = gone.read_bytes()
        gone.unlink()
        put("c", 3)
        with pytest.raises(StreamError) as caught:
            scene.start(stream).wait()
        assert str(caught.value) == (
            f"files of batch 0 are gone, with events that were not matched yet: {gone}. Put them "
            "back and start the stream again; to give the events up put empty files in their place"
        )
        assert str(kept) not in str(caught.value)
        assert list(scene.rows()) == []
        gone.write_bytes(data)
        scene.start(stream).wait()
        assert pairs(scene) == [(1, "all"), (2, "all"), (3, "all")]

    def test_its_events_may_be_given_up(self, scene, source, broken):
        stream, put = source
        gone, _ = put("a", 1), put("b", 2)
        broken(stream)
        gone.write_bytes(b"")
        started = scene.start(stream)
        started.wait()
        assert pairs(scene) == [(2, "all")]
        (batch,) = started.published()
        (warning,) = batch.warnings
        assert warning.startswith(f"the file {gone} was replaced after batch 0 began: ")

    def test_one_in_its_place_is_told(self, spark, scene, source, broken):
        stream, put = source
        place, other = put("a", 1), put("b", 2)
        broken(stream)
        put("c", 3).replace(place)
        other.touch()
        started = scene.start(stream)
        started.wait()
        assert pairs(scene) == [(2, "all"), (3, "all")]
        (batch,) = started.published()
        assert [str(path) for path in (place, other)] == sorted(
            warning.split()[2] for warning in batch.warnings
        )

    def test_many_are_told_by_some(self, scene, source, broken):
        stream, put = source
        paths = [put(name, number) for number, name in enumerate("abcdef")]
        broken(stream)
        for path in paths[:5]:
            path.unlink()
        with pytest.raises(StreamError, match=r"c\.\w+ and 2 more\. Put them"):
            scene.start(stream).wait()

    def test_elsewhere_spark_is_asked(self, spark, scene):
        path, gone = scene.put_table("a[1]", events(1)), scene.events / "b"
        changed = path.stat().st_mtime_ns // 1_000_000
        assert _changed(spark, [f"file:{path}"], 0) == {f"file:{path}": changed}
        with pytest.raises(StreamError, match=r"files of batch 7 are gone, .*/events/b\. Put"):
            _changed(spark, [f"file:{path}", f"file:{gone}"], 7)


def test_a_stream_begins_with_an_empty_folder(spark, scene):
    """It waits; and a name may be like a pattern."""
    scene.save()
    scene.start(scene.files(spark, SCHEMA)).wait()
    assert list(read_batches(scene.output)) == []
    for number, name in enumerate(["a?", "a*", "a[b]", "a{b,c}", "a\\b", "ab", "a %41#", "ü"]):
        scene.put_table(name, events(number))
    stream = scene.start(scene.files(spark, SCHEMA, files=10))
    stream.wait()
    (batch,) = stream.published()
    assert (batch.events, batch.warnings) == (8, ())
    assert pairs(scene) == [(number, "all") for number in range(8)]


def test_spark_reads_twice_beside_a_name_that_is_like_a_pattern(spark, scene):
    """A mistake of Spark's own readers: where this fails, the warning can go."""
    scene.save()
    scene.put("a*", [event(1)])
    scene.put("b", [event(2)])
    stream = scene.start(scene.source(spark, files=10))
    stream.wait()
    (batch,) = stream.published()
    assert pairs(scene) == [(1, "all"), (2, "all"), (2, "all")]
    assert batch.warnings[0].startswith(f"the name of the file {scene.events}/a*.json has char")


class TestTypeOfTheId:
    def test_it_is_declared_or_told_by_a_file(self, spark, scene):
        scene.save()
        with pytest.raises(UsageError, match=r"no file in .*events has the event's id 'id' yet"):
            scene.start(scene.files(spark))
        assert not scene.output.exists()
        damage(scene.put_table("a", events(1)))
        scene.put_table("b", pa.table({"id": pa.array([None], pa.null())}))
        first = scene.put_table("c", pa.table({"id": pa.array([1], pa.uint32())}))
        scene.put_table("d", pa.table({"id": ["2"]}))
        scene.start(scene.files(spark, files=10)).wait()
        assert read_matches(spark, scene.output).dtypes[0] == ("id", "bigint")
        assert pairs(scene) == [(1, "all"), (2, "all")]

        # At a new start it is what it was, whatever files there are.
        first.unlink()
        scene.put_table("e", pa.table({"id": ["3"]}))
        scene.start(scene.files(spark, files=10)).wait()
        assert pairs(scene) == [(1, "all"), (2, "all"), (3, "all")]
        with pytest.raises(StreamError, match="id of the events was bigint and is now string"):
            scene.start(scene.files(spark, "id string"))

    def test_one_that_cannot_be_is_refused(self, spark, scene):
        scene.save()
        for schema, problem in {
            "id interval year": "which cannot be sent to Python",
            "batch int": "cannot be called 'batch'",
        }.items():
            with pytest.raises(UsageError, match=problem):
                scene.start(scene.files(spark, schema), event_id=schema.split()[0])
        for kind, remedy in {
            pa.float16(): "declare another, as schema='id string'",
            pa.decimal256(60, 2): "declare another, as schema='id string'",
            pa.time64("us"): "write the files with strings or numbers instead",
            pa.time32("ms"): "write the files with strings or numbers instead",
        }.items():
            scene.put_table("a", pa.table({"id": pa.nulls(1, kind)}))
            problem = rf"'id' has type {re.escape(str(kind))} in .*results cannot have: {remedy}"
            with pytest.raises(UsageError, match=problem):
                scene.start(scene.files(spark))

    def test_bytes_and_texts_of_any_kind(self, spark, scene):
        """Also what Spark has no type for."""
        name = uuid.UUID(int=7)
        for number, (kind, value, expected, told) in enumerate(
            [
                (pa.uuid(), name.bytes, "string", str(name)),
                (pa.json_(), "a", "string", "a"),
                (pa.string_view(), "a", "string", "a"),
                (pa.large_binary(), b"\xff", "binary", b"\xff"),
                (pa.binary(2), b"ab", "binary", b"ab"),
                (pa.duration("s"), 1, "interval day to second", timedelta(seconds=1)),
            ]
        ):
            other = Scene(scene.folder / str(number))
            other.save()
            other.put_table("a", pa.table({"id": pa.array([value], kind)}))
            other.start(other.files(spark)).wait()
            found = read_matches(spark, other.output)
            assert found.dtypes[0][1] == expected
            assert [row.id for row in found.collect()] == [told]


def test_another_reader_is_refused(spark, scene):
    """What Spark reads has the columns of its schema, which files may not have."""
    scene.save()
    rows = spark.readStream.schema(SCHEMA).parquet(str(scene.events))
    scene.start(rows).wait()
    with pytest.raises(StreamError, match="the reader of the stream was spark and is now work"):
        scene.start(scene.files(spark, SCHEMA))
    scene.output, scene.checkpoint = scene.folder / "other", scene.folder / "other-checkpoint"
    scene.start(scene.files(spark, SCHEMA)).wait()
    with pytest.raises(StreamError, match="the reader of the stream was workers and is now sp"):
        scene.start(rows)


@pytest.mark.parametrize("form", ["rows", "lists"])
def test_json_in_a_column(spark, scene, form):
    scene.save(all="true", cheap="price < 10")
    texts = ['{"price": 5}', "{", None]
    scene.put_table("a", pa.table({"id": [1, 2, 3], "text": pa.array(texts).dictionary_encode()}))
    scene.put_table("b", pa.table({"id": [4, None], "text": [b'{"price": 50}', b"{"]}))
    scene.put_table("c", pa.table({"id": [5], "text": [5]}))
    scene.put_table("d", pa.table({"id": [6]}))
    scene.start(scene.files(spark, files=4), json="text", form=form).wait()
    found = read_matches(spark, scene.output).drop("version", "batch")
    assert contents.pairs(found) == [(1, "all"), (1, "cheap"), (4, "all")]
    told = {row["id"] or row["event"] or row["error"][-60:] for row in scene.rows("dead_letters")}
    assert told == {
        *(2, 3, "{"),
        "column 'text' must hold JSON as strings, but its type is int64"[-60:],
        f"{scene.events / 'd.parquet'} can be read: it has no column 'text'"[-60:],
    }


def test_folders_may_come_and_go_and_be_of_any_name(spark, scene):
    """Beside such folders lie files too, one with a name that is like a pattern."""
    scene.save(day="day = '1'")
    scene.events.mkdir(exist_ok=True)
    stream = parquet_stream(spark, str(scene.events), schema="id long")
    scene.put_table("day=1/a", pa.table({"id": [1]}))
    scene.put_table("hour=2/a", pa.table({"id": [2]}))
    scene.put_table("path=3/a", pa.table({"id": [3]}))
    scene.put_table("plain/a", pa.table({"id": [4]}))
    scene.put_table("beside", pa.table({"id": [5]}))
    scene.put_table("a[1]{b}", pa.table({"id": [6]}))
    scene.start(stream).wait()
    assert pairs(scene) == [(1, "all"), (1, "day"), *((number, "all") for number in range(2, 7))]


def test_a_path_that_cannot_be_read(spark, scene):
    for path, problem in {
        "/nowhere": "Path does not exist: /nowhere",
        "/{a": "Illegal file pattern",
        "x://y": 'No FileSystem for scheme "x"',
    }.items():
        with pytest.raises(FileError, match=f"{re.escape(path)}.*{re.escape(problem)}"):
            parquet_stream(spark, path)


def test_folders_that_spark_itself_cannot_take(spark, scene):
    scene.save()
    stream = scene.source(spark)
    for folder in ("x=1", "y=2"):
        (scene.events / folder).mkdir()
        (scene.events / folder / "a.json").write_text("{}")
    with pytest.raises(
        StreamError, match="list the files of the stream: Conflicting part"
    ) as caught:
        scene.start(stream).wait()
    assert "\n" not in str(caught.value)
    scene.put_table("a", events(1))
    bad = parquet_stream(spark, str(scene.events), spark_options={"maxFilesPerTrigger": "x"})
    scene.output, scene.checkpoint = scene.folder / "other", scene.folder / "other-checkpoint"
    with pytest.raises(StreamError, match="Invalid value 'x' for option 'maxFilesPerTrigger'"):
        scene.start(bad, event_id="id").wait()


def test_a_schema_that_cannot_be_read(spark):
    for schema in ("id strin", "string"):
        with pytest.raises(UsageError, match="schema"):
            parquet_stream(spark, "anywhere", schema=schema)


def test_folders_tell_attributes(spark, scene):
    scene.save(
        november="day >= timestamp '2026-11-01'", seven="hour = '7'", none="hour is null", x="x = 1"
    )
    place = scene.events / "run=5"
    scene.put_table("run=5/day=2026-11-15/hour=7/a", pa.table({"id": [1], "x": [1]}))
    scene.put_table("run=5/day=2026-10-15/hour=__HIVE_DEFAULT_PARTITION__/a", pa.table({"id": [2]}))
    scene.put_table("run=5/day=someday/hour=7/a", pa.table({"id": [3], "hour": [7]}))
    scene.start(parquet_stream(spark, str(place), schema="day date, id long")).wait()
    assert pairs(scene) == [
        *((1, name) for name in ("all", "november", "seven", "x")),
        *((2, name) for name in ("all", "none")),
        (3, "all"),
    ]
