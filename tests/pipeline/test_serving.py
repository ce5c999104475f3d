"""Which version a batch is bound to, without Spark around it."""

import pytest

from boolcast.matching.store.store import FolderStore
from boolcast.pipeline.streaming.ledger import Ledger
from boolcast.pipeline.streaming.version_pinning import Serving
from tests.pipeline.streams import Scene


@pytest.fixture
def scene(tmp_path):
    scene = Scene(tmp_path)
    scene.save(cheap="price < 10")
    return scene


def test_of_two_drivers_the_first_one_binds_a_batch(scene):
    first, second = (Ledger(FolderStore(scene.output)) for _ in range(2))
    assert first.pin(5, 1) == 1
    assert second.pin(5, 2) == 1
    assert second.pinned(5) == 1
    scene.save(cheap="price < 20")
    assert Serving(FolderStore(scene.index)).bind(second, 5) == 1
    assert Serving(FolderStore(scene.index)).bind(second, 6) == 2


def test_a_bound_version_that_is_damaged_is_given_up_for_the_newest(scene):
    ledger = Ledger(FolderStore(scene.output))
    assert Serving(FolderStore(scene.index)).bind(ledger, 5) == 1
    scene.save(cheap="price < 20")
    scene.damage(1)
    serving = Serving(FolderStore(scene.index))
    assert serving.bind(ledger, 5) == 2
    assert ledger.pinned(5) == 2
    (warning,) = serving.warnings()
    assert "batch 5 was bound to version 1 of the index: " in warning
    assert "its checksum is wrong" in warning
