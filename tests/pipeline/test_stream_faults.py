"""Whatever fails and wherever, what is published is whole, and a new start goes on."""

import errno
import sys
from pathlib import Path

import msgspec
import pytest

from boolcast.errors import OutputError, StreamError
from boolcast.matching.store.snapshots import delete_old_versions, versions
from boolcast.matching.store.store import FolderStore
from boolcast.pipeline import read_batches, read_matches
from boolcast.pipeline.streaming.ledger import Batch, Ledger
from tests.matching.faults import AFTER, BEFORE, FaultyStore, no_space
from tests.pipeline.streams import Scene, event


class FaultyInDriver(FaultyStore):
    """Fails in the driver only: what travels to the tasks is the store as it should be."""

    def __reduce__(self):
        assert isinstance(self.store, FolderStore)
        return FolderStore, (self.store.folder,)


class FullFor:
    """A folder that has no space left for names with a beginning, as long as a file is there."""

    def __init__(self, folder: Path, beginning: str, marker: Path) -> None:
        self.store = FolderStore(folder)
        self.beginning = beginning
        self.marker = marker

    def __str__(self) -> str:
        return str(self.store)

    def get(self, name):
        return self.store.get(name)

    def path(self, name):
        return self.store.path(name)

    def forget(self, name):
        return False

    def list(self, prefix):
        return self.store.list(prefix)

    def delete(self, name):
        self.store.delete(name)

    def put_if_absent(self, name, data):
        if name.startswith(self.beginning) and self.marker.exists():
            raise OSError(errno.ENOSPC, "No space left on device")
        return self.store.put_if_absent(name, data)


@pytest.fixture
def scene(tmp_path):
    scene = Scene(tmp_path)
    scene.save(cheap="price < 10")
    scene.put("a", map(event, range(20)))
    scene.put("b", map(event, range(20, 40)))
    return scene


def seen(scene):
    """The events that a reader finds: whole batches, as `verify` says."""
    whole = [20 * batch.batch for batch in read_batches(scene.output)]
    numbers = [number for first in whole for number in range(first, first + 20)]
    scene.verify(scene.rows(), numbers)
    return len(numbers)


def failure(scene, spark, output):
    try:
        scene.run(spark, output=output)
    except OutputError as error:
        return str(error)
    return None


@pytest.mark.parametrize("point", [BEFORE, pytest.param(AFTER, marks=pytest.mark.long)])
def test_no_space_left_for_any_write_of_the_driver(spark, tmp_path, point):
    """The record of the stream, pins and manifests, and the cleaning between two batches."""
    outcomes = []
    for at in range(1, sys.maxsize):
        (tmp_path / f"{at}").mkdir()
        scene = Scene(tmp_path / f"{at}")
        scene.save(cheap="price < 10")
        scene.put("a", map(event, range(20)))
        scene.put("b", map(event, range(20, 40)))
        faulty = FaultyInDriver(FolderStore(scene.output), at, no_space, point=point)
        problem = failure(scene, spark, faulty)
        assert faulty.reached == (problem is not None)
        if problem is None:
            assert seen(scene) == 40
            break
        assert "No space left on device" in problem
        assert "start the stream again" in problem
        outcomes.append(seen(scene))
        if at % 2:
            scene.save(cheap="price < 20")
        scene.run(spark)
        assert seen(scene) == 40
    # The identity; pin and manifest of the first; its pin again; pin and manifest of the second.
    expected = {BEFORE: [0, 0, 0, 20, 20, 20], AFTER: [0, 0, 20, 20, 20, 40]}
    assert outcomes == expected[point]


@pytest.mark.parametrize("table", ["matches", "dead_letters"])
def test_no_space_left_in_a_task(spark, tmp_path, table):
    scene = Scene(tmp_path)
    scene.save(cheap="price < 10")
    scene.put("a", [*map(event, range(20)), {"price": 1.0}])
    marker = tmp_path / "full"
    marker.touch()
    output = FullFor(scene.output, f"{table}/", marker)
    with pytest.raises(OutputError, match="No space left on device"):
        scene.run(spark, output=output)
    assert list(read_batches(scene.output)) == []
    assert len(scene.leftovers()) == (table == "dead_letters")
    assert read_matches(spark, scene.output).count() == 0
    marker.unlink()
    (batch,) = scene.run(spark, output=output)
    assert (batch.events, batch.dead_letter_count) == (21, 1)
    scene.verify(scene.rows(), range(20))
    scene.put("b", map(event, range(20, 40)))
    scene.run(spark)
    assert scene.leftovers() == set(), "the next batch cleans up"
    scene.verify(scene.rows(), range(40))


def fail_to_publish(spark, scene, batch=0):
    """Run a stream that ends with the work of a batch done and its manifest not put."""
    marker = scene.folder / "full"
    marker.touch()
    with pytest.raises(OutputError):
        scene.run(spark, output=FullFor(scene.output, f"batches/{batch:08}", marker))
    marker.unlink()


def test_a_repeated_batch_keeps_its_version(spark, scene):
    fail_to_publish(spark, scene)
    assert scene.leftovers()
    scene.save(cheap="price < 20")
    assert [batch.version for batch in scene.run(spark)] == [1, 2]
    assert seen(scene) == 40
    assert scene.leftovers() == set()


def test_collecting_spares_the_version_of_an_unfinished_batch(spark, scene):
    from boolcast.pipeline import collect as collect_beside  # noqa: PLC0415 - beside the other

    fail_to_publish(spark, scene)
    for limit in (1, 2):
        scene.save(cheap=f"price < {limit}")
    collect_beside(scene.index, 1, streams=[scene.output])
    assert versions(FolderStore(scene.index)) == [1, 2, 3]
    assert [batch.version for batch in scene.run(spark)] == [1, 3]


def test_a_version_that_is_gone_is_given_up_for_the_newest(spark, scene):
    fail_to_publish(spark, scene)
    scene.save(cheap="price < 20")
    delete_old_versions(FolderStore(scene.index), 1)
    batches = scene.run(spark)
    assert [batch.version for batch in batches] == [2, 2]
    (warning,) = batches[0].warnings
    assert "pinned to version 1 of the index, which is gone" in warning
    assert seen(scene) == 40


class Slow(FaultyInDriver):
    """Another driver is faster with the first batch."""

    other = Batch(
        batch=0, version=1, events=0, started=0.0, seconds=0.0, matches=(), dead_letters=()
    )

    def put_if_absent(self, name, data):
        if name.startswith("batches/"):
            Ledger(self.store).publish(self.other)
        return super().put_if_absent(name, data)


def test_a_batch_that_another_driver_publishes_meanwhile_is_that_one_s(spark, scene):
    batches = scene.run(spark, output=Slow(FolderStore(scene.output), 0, no_space))
    assert batches[0] == Slow.other
    assert batches[1].events == 20
    assert [row for row in scene.rows() if row["batch"] == 0] == []
    assert scene.leftovers() == set(), "what this driver wrote for the batch is cleaned"


def test_a_driver_with_other_events_is_told_that_the_batch_is_taken(spark, scene):
    """Of two copies of a checkpoint both name the same output, and only one may go on."""
    output = Slow(FolderStore(scene.output), 0, no_space)
    output.other = msgspec.structs.replace(Slow.other, offsets="another's")
    with pytest.raises(StreamError, match=r"batch 0 is published in .* with other events"):
        scene.run(spark, output=output)
