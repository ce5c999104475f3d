"""Which files wait: those that Spark would list and has not taken up."""

import json
import os
from pathlib import Path

import fsspec
import pytest

from boolcast.cli.stream_progress import waiting_text
from boolcast.matching.store.store import FolderStore
from boolcast.pipeline.spark.files import absolute, pattern_of, root_of
from boolcast.pipeline.streaming.backlog import Backlog, Waiting
from boolcast.pipeline.streaming.checkpoint_files import SeenPaths, files_of

NOW = 1_800_000_000


def put(path, size, age):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    os.utime(path, (NOW - age, NOW - age))


def write_log(folder, name, entries, head="v1"):
    """An entry of Spark's log of files: paths by the numbers of entries."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (
        json.dumps({"path": each, "timestamp": 7, "batchId": entry})
        for entry, paths in entries.items()
        for each in paths
    )
    path.write_text("\n".join([head, *lines]))


def backlog(tmp_path, path, options=None, fsspec_options=None):
    return Backlog(FolderStore(tmp_path / "checkpoint"), path, options or {}, fsspec_options or {})


def test_what_is_taken_up_does_not_wait(tmp_path):
    events = tmp_path / "events"
    put(events / "a b?.json", 1, 50)
    put(events / "b.json", 20, 30)
    put(events / "c.json", 300, 40)
    watched = backlog(tmp_path, str(events))
    assert watched.waiting(NOW) == Waiting(3, 321, 50.0)
    write_log(tmp_path / "checkpoint", "sources/0/0", {0: [f"file://{events}/a%20b%3F.json"]})
    assert watched.waiting(NOW) == Waiting(2, 320, 40.0)
    write_log(tmp_path / "checkpoint", "sources/0/1", {1: [f"file://{events}/c.json"]})
    assert watched.waiting(NOW) == Waiting(1, 20, 30.0)
    (events / "b.json").unlink()
    assert watched.waiting(NOW) == Waiting(0, 0, 0.0)


LISTED = [
    ("events", {}, "a"),
    ("events", {"recursiveFileLookup": "true"}, "abc"),
    ("events", {"RECURSIVEFILELOOKUP": "True", "pathGlobFilter": "*.json"}, "ac"),
    ("events/*.json", {}, "a"),
    ("events/*", {}, "abf"),
    ("events/deep/../d*", {}, "b"),
    ("e*/deep", {"recursiveFileLookup": "true"}, "bc"),
    ("days", {}, "de"),
    ("days/day={1,3}", {}, "d"),
    (r"event\s", {}, "a"),
    (r"event\?", {}, ""),
]
"""Paths, options, and which files they stand for."""


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """Files whose sizes are powers of 2, so that a sum tells which ones it is of."""
    for bit, name in enumerate(
        [
            *("events/a.json", "events/deep/b.txt", "events/deep/er/c.json"),
            *("days/day=1/d.json", "days/day=2/e.json"),
            *("events/_marks/f.json", "events/.g.json", "events/_h.json"),
        ]
    ):
        put(tmp_path / name, 1 << bit, 1)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def size_of(names):
    return sum(1 << "abcdefgh".index(name) for name in names)


@pytest.mark.parametrize(("path", "options", "expected"), LISTED)
def test_paths_stand_for_files(tree, path, options, expected):
    for each in (path, f"{tree}/{path}", f"file://{tree}/{path}"):
        assert backlog(tree, each, options).waiting(NOW).bytes == size_of(expected)


def test_files_are_listed_as_spark_lists_them(spark, tree):
    for number, (path, options, expected) in enumerate(LISTED):
        if not expected:
            continue
        checkpoint = tree / "checkpoints" / str(number)
        reader = spark.readStream.format("text").schema("value string").options(**options)
        writer = reader.load(f"{tree}/{path}").writeStream.format("noop")
        query = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
        query.start().awaitTermination()
        files = files_of(FolderStore(checkpoint), 0)
        found = sum(Path(file.path.removeprefix("file:")).stat().st_size for file in files)
        assert (path, found) == (path, size_of(expected))
        watched = Backlog(FolderStore(checkpoint), f"{tree}/{path}", options, {})
        assert watched.waiting(NOW).files == 0


def test_files_elsewhere_are_listed_by_fsspec(tmp_path):
    system = fsspec.filesystem("memory")
    system.pipe_file("/waiting/a.parquet", b"1")
    system.pipe_file("/waiting/day=1/b.parquet", b"22")
    system.pipe_file("/waiting/_SUCCESS", b"")
    found = backlog(tmp_path, "memory:///waiting").waiting(NOW)
    assert (found.files, found.bytes) == (2, 3)
    write_log(tmp_path / "checkpoint", "sources/0/0", {0: ["memory:///waiting/a.parquet"]})
    assert backlog(tmp_path, "memory:///waiting").waiting(NOW).bytes == 2


def test_the_log_is_read_on(tmp_path):
    """Also past compact entries, and where Spark has cleared away what those tell."""
    taken = SeenPaths(FolderStore(tmp_path))
    assert taken.read() == set()
    write_log(tmp_path, "sources/0/0", {0: ["file:///a"]})
    write_log(tmp_path, "sources/1/0", {0: ["s3a://bucket/x"]})
    assert taken.read() == {"/a", "/x"}
    write_log(tmp_path, "sources/0/1.compact", {0: ["file:///a"], 1: ["file:///b", "file:///c"]})
    write_log(tmp_path, "sources/0/2", {2: ["file:///d"]})
    (tmp_path / "sources/0/0").unlink()
    assert taken.read() == {"/a", "/b", "/c", "/d", "/x"}
    assert SeenPaths(FolderStore(tmp_path)).read() == taken.read()
    write_log(tmp_path, "sources/0/3.compact", {0: ["file:///never"], 3: ["file:///e"]})
    assert taken.read() == {"/a", "/b", "/c", "/d", "/e", "/x"}


def test_the_files_of_a_batch(tmp_path):
    """The first source has files, the second none, the third began late."""
    store = FolderStore(tmp_path)
    head = 'v1\n{"batchWatermarkMs":0}\n'
    (tmp_path / "offsets").mkdir()
    (tmp_path / "offsets/0").write_text(head + '{"logOffset":0}\n{"topic":{"0":5}}\n-')
    (tmp_path / "offsets/1").write_text(
        head + '{"logOffset":2}\n{"topic":{"0":9}}\n{"logOffset":0}'
    )
    (tmp_path / "offsets/2").write_text("v2\n{}")
    write_log(tmp_path, "sources/0/0", {0: ["file:///a"]})
    write_log(tmp_path, "sources/0/1", {1: ["file:///b%20c"]})
    write_log(tmp_path, "sources/0/2.compact", {0: ["file:///a"], 1: ["file:///b"], 2: ["s3a://d"]})
    write_log(tmp_path, "sources/2/0", {0: ["file:///e"]})
    assert files_of(store, 0) == [("file:/a", 7)]
    assert files_of(store, 1) == [("file:/b c", 7), ("s3a://d", 7), ("file:/e", 7)]
    assert files_of(store, 2) == []


def test_paths_are_normalised_before_wildcards_are_looked_for(tmp_path, monkeypatch):
    assert root_of("s3a://bucket/x/../y/") == "/y/"
    assert root_of("s3a://bucket") == "/"
    assert root_of("/data/*/../events/day=*/x") == "/data/events/"
    assert root_of("file:/data//x/./y") == "/data/x/y/"
    assert absolute("hdfs://host:9000/a/b/..") == "/a"
    monkeypatch.chdir(tmp_path)
    assert root_of("../x/*") == f"{tmp_path.parent}/x/"
    assert pattern_of(r"a\*b[!1-3]{x,y?}.,") == r"a\*b[^1-3](?:x|y[^/])\.,"


@pytest.mark.parametrize(
    ("waiting", "text"),
    [
        (Waiting(0, 0, 0.0), "no file waits"),
        (Waiting(1, 40, 3.4), "1 file (0.0 MB) waits, the oldest for 3 s"),
        (Waiting(1_200, 3_450_000, 3_700.0), "1,200 files (3.5 MB) wait, the oldest for 3,700 s"),
    ],
)
def test_it_is_told_to_people(waiting, text):
    assert waiting_text(waiting) == text
