"""Which version a batch is pinned to, without Spark."""

import pytest

from boolcast.matching.store.store import FolderStore
from boolcast.pipeline.streaming.ledger import Ledger
from boolcast.pipeline.streaming.version_pinning import VersionPinning
from tests.pipeline.streams import Scene


@pytest.fixture
def scene(tmp_path):
    scene = Scene(tmp_path)
    scene.save(cheap="price < 10")
    return scene


def test_of_two_drivers_the_first_pins_a_batch(scene):
    first, second = (Ledger(FolderStore(scene.output)) for _ in range(2))
    assert first.pin(5, 1) == 1
    assert second.pin(5, 2) == 1
    assert second.pinned(5) == 1
    scene.save(cheap="price < 20")
    assert VersionPinning(FolderStore(scene.index)).pin(second, 5) == 1
    assert VersionPinning(FolderStore(scene.index)).pin(second, 6) == 2


def test_the_newest_version_replaces_a_damaged_pin(scene):
    ledger = Ledger(FolderStore(scene.output))
    assert VersionPinning(FolderStore(scene.index)).pin(ledger, 5) == 1
    scene.save(cheap="price < 20")
    scene.damage(1)
    versions = VersionPinning(FolderStore(scene.index))
    assert versions.pin(ledger, 5) == 2
    assert ledger.pinned(5) == 2
    (warning,) = versions.warnings()
    assert "batch 5 was pinned to version 1 of the index: " in warning
    assert "its checksum is wrong" in warning
