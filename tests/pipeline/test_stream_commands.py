"""`boolcast index` and `boolcast stream`, from files to results."""

import json
import os
import signal
import subprocess

import msgspec
import pyarrow as pa
import pytest

from boolcast import Matcher
from boolcast.matching.store.snapshots import versions
from boolcast.matching.store.store import FolderStore
from boolcast.pipeline import match_stream, read_batches
from boolcast.pipeline.streaming.version_pinning import VersionPinning
from tests.cli.running import BOOLCAST, ENVIRONMENT, run
from tests.pipeline.contents import filters_of
from tests.pipeline.streams import ALL, SCHEMA, Scene, event

SPARK = {"master": "local[1,4]", "settings": {"spark.driver.memory": "512m"}}


@pytest.fixture
def scene(tmp_path):
    return Scene(tmp_path)


def lines(path, rows):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def configuration(scene, **changed):
    told = {
        "index": str(scene.index),
        "output": str(scene.output),
        "checkpoint": str(scene.checkpoint),
        "event_id": "id",
        "trigger_seconds": 0.1,
        "source": {
            "format": "json",
            "path": str(scene.events),
            "schema": SCHEMA,
            "options": {"maxFilesPerTrigger": 1},
        },
        **changed,
    }
    path = scene.folder / "stream.json"
    path.write_bytes(msgspec.json.encode(told))
    return path


def test_an_index_is_built_and_changed(spark, scene):
    alerts = lines(
        scene.folder / "alerts.jsonl",
        [
            {"subscription": "all", "filter": ALL},
            {"subscription": 7, "filter": "price < 10"},
            {"subscription": "bad", "filter": "price <"},
        ],
    )
    result = run("index", "build", scene.index, alerts)
    assert result.code == 1
    assert result.output.startswith("version 1: 2 subscriptions; 2 upserted, 0 deleted")
    assert result.errors.startswith("rejected 'bad': ")
    changes = lines(
        scene.folder / "changes.jsonl",
        [{"subscription": "7", "filter": None}, {"subscription": "8", "filter": "price > 40"}],
    )
    result = run("index", "apply", scene.index, changes, "--json")
    assert (result.code, result.errors) == (0, "")
    (report,) = result.json
    assert (report["version"], report["subscriptions"], report["deleted"]) == (2, 2, 1)
    assert sorted(Matcher.load(scene.index).match(event(49))) == ["8", "all"]
    result = run("index", "list", scene.index)
    assert [line.split(" in ")[0] for line in result.output.splitlines()] == [
        "version 1: 2 subscriptions",
        "version 2: 2 subscriptions",
    ]
    assert run("index", "collect", scene.index, "--keep", 1).code == 0
    assert versions(FolderStore(scene.index)) == [2]


def test_an_index_of_a_folder_of_lines(spark, scene):
    """As `boolcast backtest` reads them: filters in JSON too, bad lines with their reasons."""
    folder = scene.folder / "alerts[1]"
    folder.mkdir()
    always = {"type": "constant", "value": True}
    lines(folder / "a.jsonl", [{"subscription": "a", "filter": always, "at": 9}])
    lines(
        folder / "b.jsonl",
        [
            {"subscription": "a", "filter": "price < 10", "at": 10},
            {"subscription": "b", "filter": {"type": "heap"}, "at": 1},
        ],
    )
    (folder / "c.jsonl").write_bytes(b'{"subscription": \xff}\n\n{"subscription": "c"\n')
    result = run("index", "build", scene.index, folder, "--order", "at")
    assert result.code == 1
    assert result.output.startswith("version 1: 1 subscription; 1 upserted, 0 deleted")
    told = sorted(result.errors.splitlines())
    assert told[0].startswith("rejected 'b': not the JSON form of a filter: ")
    assert told[1].startswith("""rejected '{"subscription": "c"': the JSON cannot be read: """)
    assert told[2].startswith(
        """rejected '{"subscription": \ufffd}': the text is not valid UTF-8"""
    )
    assert len(told) == 3
    assert filters_of(scene.index) == {"a": "price < 10"}


@pytest.mark.timeout(300)
def test_an_index_of_parquet_that_is_damaged(scene):
    """In a process of its own: what Java writes is part of what the user sees."""
    alerts = scene.folder / "alerts.parquet"
    alerts.write_bytes(b"PAR1 and nothing more")
    done = subprocess.run(
        [*BOOLCAST, "index", "build", scene.index, alerts],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    problem = "Spark cannot read it as Parquet; is it damaged?"
    assert done.stderr == f"error: {alerts}: {problem}\n"


@pytest.mark.parametrize("order", [None, "updated"])
def test_an_index_of_parquet(spark, scene, order):
    rows = [(1, "price < 1", 1, "upsert"), (1, "price < 2", 2, "upsert")]
    schema = "subscription long, filter string, updated long, operation string"
    spark.createDataFrame(rows, schema).write.parquet(str(scene.folder / "alerts"))
    asked = [] if order is None else ["--order", order]
    assert run("index", "build", scene.index, scene.folder / "alerts", *asked).code == (not order)
    assert filters_of(scene.index) == ({"1": "price < 2"} if order else {})
    spark.createDataFrame([(1, None, 3, "delete")], schema).write.parquet(
        str(scene.folder / "changes")
    )
    result = run("index", "apply", scene.index, scene.folder / "changes", *asked, "--json")
    assert result.json[0]["subscriptions"] == 0
    assert result.json[0]["deleted"] == (1 if order else 0)
    result = run("index", "build", scene.index, scene.folder / "alerts", "--order", "date")
    assert (result.code, "lacks the column 'date'" in result.errors) == (2, True)


def test_an_index_of_what_is_not_there(spark, scene):
    result = run("index", "build", scene.index, scene.folder / "nothing.jsonl")
    assert (result.code, result.output) == (2, "")
    assert f"{scene.folder}/nothing.jsonl: there is no such file" in result.errors
    result = run("index", "list", scene.index)
    assert (result.code, result.output) == (2, "")
    assert "there is no index in" in result.errors


def test_a_stream_of_what_is_there(spark, scene):
    scene.save(cheap="price < 10")
    scene.put("a", map(event, range(20)))
    scene.put("b", [*map(event, range(20, 40)), {"price": 1.0}])
    result = run("stream", configuration(scene), "--once", "--json")
    assert (result.code, result.errors) == (0, "")
    first, second = result.json
    assert first["waiting"]["files"] in {0, 1}
    assert second["waiting"] == {"files": 0, "bytes": 0, "oldest_seconds": 0.0}
    assert (first["batch"], first["version"], first["events"], first["matches"]) == (0, 1, 20, 30)
    assert (second["batch"], second["events"], second["dead_letters"]) == (1, 21, 1)
    scene.verify(scene.rows(), range(40))
    scene.put("c", map(event, range(40, 50)))
    result = run("stream", configuration(scene), "--once")
    assert result.code == 0
    assert result.output.startswith("batch 2: 10 events in ")
    assert result.output.endswith(", 10 matches, 0 dead letters, version 1, no file waits\n")
    assert result.errors == "1 batch, 10 events, 10 matches, 0 dead letters\n"


@pytest.mark.parametrize("form", ["json", "parquet"])
def test_the_lag_is_shown(spark, scene, monkeypatch, form):
    """The files that no batch has taken up, as they come while one is at work."""
    scene.save()
    rows = [event(1)]
    put = {
        "json": lambda name: scene.put(name, rows),
        "parquet": lambda name: scene.put_table(name, pa.Table.from_pylist(rows)),
    }[form]
    put("a")
    pin = VersionPinning.pin

    def feeding(versions, ledger, batch):
        if not batch:
            put("b")
            put("c")
            for path in scene.events.iterdir():
                os.utime(path, (path.stat().st_mtime - 100,) * 2)
        return pin(versions, ledger, batch)

    monkeypatch.setattr(VersionPinning, "pin", feeding)
    source = {"format": form, "path": str(scene.events), "schema": SCHEMA}
    result = run("stream", configuration(scene, source=source), "--once", "--json")
    assert (result.code, result.errors) == (0, "")
    (batch,) = result.json
    size = sum(path.stat().st_size for path in scene.events.iterdir() if path.name[0] != "a")
    assert (batch["waiting"]["files"], batch["waiting"]["bytes"]) == (2, size)
    assert 90 < batch["waiting"]["oldest_seconds"] < 700


def test_events_as_json_text(spark, scene):
    scene.save(cheap="price < 10")
    scene.put("a", [*map(event, range(20)), "garbage"])
    source = {
        "format": "text",
        "path": str(scene.events),
        "select": ["coalesce(get_json_object(value, '$.id'), '?') as id", "value"],
    }
    result = run("stream", configuration(scene, source=source, json="value"), "--once", "--json")
    assert (result.code, result.errors) == (0, "")
    assert (result.json[0]["matches"], result.json[0]["dead_letters"]) == (30, 1)


def test_a_schema_and_a_memory_limit(spark, scene, monkeypatch):
    scene.save(late="at > timestamp '2026-01-31'")
    scene.put("a", [{"id": 1, "at": "2026-02-01"}, {"id": 2, "at": "2026-01-01"}])
    schema = scene.folder / "schema.json"
    schema.write_text('{"attributes": {"at": {"kind": "timestamp"}}}')
    source = {"format": "text", "path": str(scene.events), "select": ["value as id", "value"]}
    told = configuration(scene, source=source, json="value", schema=str(schema), memory=12_345)
    given = {}

    def remembering(*arguments, **named):
        given.update(named)
        return match_stream(*arguments, **named)

    monkeypatch.setattr("boolcast.cli.stream_run.match_stream", remembering)
    result = run("stream", told, "--once", "--json")
    assert (result.code, result.errors) == (0, "")
    assert result.json[0]["matches"] == 3
    assert given["memory"] == 12_345
    schema.unlink()
    result = run("stream", told, "--once")
    assert (result.code, result.errors) == (2, f"error: {schema}: there is no such file\n")


def test_workers_read_parquet_unless_told_otherwise(spark, scene):
    scene.save(cheap="price < 10")
    scene.put_table("a", pa.table({"id": [1], "price": [5.0]}))
    scene.put_table("b", pa.table({"id": [2], "price": ["five"]}))
    (scene.folder / "partial").write_bytes(b"PAR1 and nothing more")
    scene.reveal(scene.folder / "partial", "c.parquet")
    source = {"format": "PARQUET", "path": str(scene.events), "schema": SCHEMA}
    by_one = {"options": {"maxFilesPerTrigger": 1}}
    told = configuration(scene, source=source | by_one)
    result = run("stream", told, "--once", "--json")
    assert (result.code, result.errors) == (0, "")
    counts = [(each["events"], each["matches"], each["dead_letters"]) for each in result.json]
    assert counts == [(1, 2, 0), (1, 1, 0), (1, 0, 1)]
    for changed in ({"reader": "spark"}, {"select": ["id", "price"]}):
        result = run("stream", configuration(scene, source=source | changed), "--once")
        assert result.code == 2
        assert "the reader of the stream was workers and is now spark" in result.errors
    scene.output, scene.checkpoint = scene.folder / "other", scene.folder / "other-checkpoint"
    result = run("stream", configuration(scene, source=source | {"reader": "spark"}), "--once")
    assert result.code == 2
    assert "error: Spark cannot read the events: " in result.errors


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"event_id": "name"}, "error: the DataFrame lacks the column 'name'"),
        ({"source": {"format": "nonsense"}}, "stream.json: source: "),
        ({"source": {"format": "parquet", "path": "x://y"}}, "x://y: Spark cannot stream it: "),
        (
            {"source": {"format": "Parquet", "path": "/nowhere"}},
            "error: /nowhere: Spark cannot stream it: [PATH_NOT_FOUND] Path does not exist",
        ),
        ({"index": "nowhere"}, "error: there is no index in"),
    ],
)
def test_what_cannot_start(spark, scene, changed, problem):
    scene.save()
    result = run("stream", configuration(scene, **changed), "--once")
    assert (result.code, result.output) == (2, "")
    assert problem in result.errors
    assert "Traceback" not in result.errors


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)]
)
def test_a_signal_stops_after_the_batch(scene, number):
    scene.save(cheap="price < 10")
    scene.put("a", map(event, range(20)))
    process = subprocess.Popen(
        [*BOOLCAST, "stream", configuration(scene, spark=SPARK), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["events"] == 20
        scene.put("b", map(event, range(20, 40)))
        # As the terminal does: to the whole group, Java and the workers included.
        send = os.killpg if number == signal.SIGINT else os.kill
        send(process.pid, number)
        _, errors = process.communicate(timeout=120)
    finally:
        process.kill()
    assert (process.returncode, errors) == (0, "")
    done = len(list(read_batches(scene.output)))
    scene.verify(scene.rows(), range(20 * done))
