"""The stores that every test of snapshots runs over."""

import pytest

from boolcast.matching.store import FolderStore, Store
from tests.matching.faults import MemoryStore


@pytest.fixture(params=["folder", "memory"])
def store(request, tmp_path) -> Store:
    return FolderStore(tmp_path / "index") if request.param == "folder" else MemoryStore()
