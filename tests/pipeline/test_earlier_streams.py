"""A stream that an earlier release has begun goes on: its output and checkpoint stay valid.

The texts below were written by the release before the modules of the pipeline were moved. Only
the paths are replaced; `offsets` in the manifest is the fingerprint of `OFFSETS`.
"""

import json
from hashlib import sha256

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from boolcast.errors import StreamError
from boolcast.pipeline import read_batches
from tests.pipeline.streams import Scene, event

NAME = "7af072497655857eeacb9a130a6051c1"
FILE = "matches/00000000/9bde39865b88b91c-0.parquet"
OFFSETS = """\
v1
{"batchWatermarkMs":0,"batchTimestampMs":1794827510226,"conf":{"spark.sql.shuffle.partitions":"2"}}
{"logOffset":0}"""
OUTPUT = {
    "stream.json": (
        '{"format":1,"checkpoint":"' + NAME + '","index":"FOLDER/index","event_id":"id",'
        '"json":null,"form":"rows","events":"{\\"fields\\":[{\\"metadata\\":{},\\"name\\":\\"id\\",'
        '\\"nullable\\":true,\\"type\\":\\"long\\"},{\\"metadata\\":{},\\"name\\":\\"price\\",'
        '\\"nullable\\":true,\\"type\\":\\"double\\"},{\\"metadata\\":{},\\"name\\":\\"title\\",'
        '\\"nullable\\":true,\\"type\\":\\"string\\"}],\\"type\\":\\"struct\\"}","matches":'
        '"{\\"fields\\":[{\\"metadata\\":{},\\"name\\":\\"id\\",\\"nullable\\":true,'
        '\\"type\\":\\"long\\"},{\\"metadata\\":{},\\"name\\":\\"subscription\\",'
        '\\"nullable\\":true,\\"type\\":\\"string\\"},{\\"metadata\\":{},'
        '\\"name\\":\\"version\\",\\"nullable\\":true,\\"type\\":\\"long\\"},{\\"metadata\\":{},'
        '\\"name\\":\\"batch\\",\\"nullable\\":true,\\"type\\":\\"long\\"}],'
        '\\"type\\":\\"struct\\"}","dead_letters":"{\\"fields\\":[{\\"metadata\\":{},'
        '\\"name\\":\\"id\\",\\"nullable\\":true,\\"type\\":\\"long\\"},{\\"metadata\\":{},'
        '\\"name\\":\\"event\\",\\"nullable\\":true,\\"type\\":\\"string\\"},{\\"metadata\\":{},'
        '\\"name\\":\\"error\\",\\"nullable\\":true,\\"type\\":\\"string\\"},{\\"metadata\\":{},'
        '\\"name\\":\\"version\\",\\"nullable\\":true,\\"type\\":\\"long\\"},{\\"metadata\\":{},'
        '\\"name\\":\\"batch\\",\\"nullable\\":true,\\"type\\":\\"long\\"}],'
        '\\"type\\":\\"struct\\"}","schema":null,"reader":"spark"}'
    ),
    "pins/00000000.json": '{"version":1}',
    "pins/00000001.json": '{"version":1}',
    "batches/00000000.json": (
        '{"batch":0,"version":1,"events":3,"started":1794827513.2046885,'
        '"seconds":14.65466289799997,"matches":[{"name":"' + FILE + '","rows":6,"bytes":906}],'
        '"dead_letters":[],"warnings":[],"offsets":"' + sha256(OFFSETS.encode()).hexdigest() + '"}'
    ),
}
CHECKPOINT = {
    "boolcast.json": '{"checkpoint":"' + NAME + '"}',
    "metadata": '{"id":"55267216-dbfa-4028-9c4c-b6dd78bc0546"}',
    "offsets/0": OFFSETS,
    "sources/0/0": 'v1\n{"path":"file://FOLDER/events/0.json","timestamp":TIME,"batchId":0}',
    "commits/0": 'v1\n{"nextBatchWatermarkMs":0}',
}


@pytest.fixture
def scene(tmp_path):
    """Two versions of the index; batch 0 is published, and batch 1 is pinned to version 1."""
    scene = Scene(tmp_path)
    scene.save(cheap="price < 10")
    scene.put("0", map(event, range(3)))
    time = (scene.events / "0.json").stat().st_mtime_ns // 1_000_000
    scene.save(cheap="price < 0")
    for folder, texts in ((scene.output, OUTPUT), (scene.checkpoint, CHECKPOINT)):
        for name, text in texts.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            filled = text.replace("FOLDER", str(tmp_path)).replace("TIME", str(time))
            (folder / name).write_text(filled, encoding="utf-8")
    rows = [(number, name) for number in range(3) for name in ("all", "cheap")]
    columns = {
        "id": [number for number, _ in rows],
        "subscription": [name for _, name in rows],
        "version": [1] * len(rows),
        "batch": [0] * len(rows),
    }
    (scene.output / FILE).parent.mkdir(parents=True)
    pq.write_table(pa.table(columns), scene.output / FILE)
    return scene


def test_it_goes_on_with_the_next_batch(spark, scene):
    scene.put("1", map(event, range(3, 6)))
    (batch,) = scene.run(spark)
    # With the version that its first attempt was pinned to, though there is a newer one.
    assert (batch.batch, batch.version, batch.events) == (1, 1, 3)
    assert [each.batch for each in read_batches(scene.output)] == [0, 1]
    scene.verify(scene.rows(), range(6))


def test_it_is_still_refused_another_event_id(spark, scene):
    with pytest.raises(StreamError, match="the event id of the stream was id and is now title"):
        scene.run(spark, event_id="title")


def test_what_is_written_has_not_changed(spark, scene, tmp_path):
    """An earlier release reads what this one writes."""
    new = Scene(tmp_path / "new")
    new.save()
    new.put("0", [event(0)])
    new.run(spark)
    for name in ("stream.json", "pins/00000000.json", "batches/00000000.json"):
        before = json.loads((scene.output / name).read_bytes())
        after = json.loads((new.output / name).read_bytes())
        assert list(after) == list(before)
    files = {path.relative_to(new.checkpoint).as_posix() for path in new.checkpoint.rglob("*")}
    assert {"boolcast.json", "offsets/0", "sources/0/0"} <= files
