"""The stores that every test of the store and of snapshots runs over."""

import pytest

from boolcast.matching.store.store import FolderStore, Store
from tests.matching.faults import MemoryStore


@pytest.fixture(params=["folder", "memory", pytest.param("s3", marks=pytest.mark.slow)])
def store(request, tmp_path) -> Store:
    match request.param:
        case "folder":
            return FolderStore(tmp_path / "not" / "yet")
        case "memory":
            return MemoryStore()
        case _:
            # Not above: it imports Spark, which fast tests do not wait for.
            from boolcast.pipeline.spark.stores import ObjectStore  # noqa: PLC0415

            s3 = request.getfixturevalue("s3")
            return ObjectStore(f"{s3.new_bucket()}/index", s3.options, cache=tmp_path / "cache")
