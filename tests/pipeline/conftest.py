"""One local Spark for many tests of the pipeline: it takes twenty seconds to warm up.

They run in two workers of pytest-xdist at most, a file after the other, and none is fast.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from pyspark.sql import SparkSession

from boolcast.pipeline import session
from tests.pipeline.cluster import Cluster
from tests.pipeline.cluster import cluster as run_cluster

# About half of all, by time.
_STREAMS: Final = frozenset(
    {
        "test_demo",
        "test_malformed",
        "test_stream",
        "test_stream_commands",
        "test_stream_faults",
        "test_stream_full_disk",
        "test_stream_kills",
    }
)


# Before xdist looks at the groups, also where this folder is named on the command line.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.slow)
            # The first one waits for Spark, which takes minutes where the machine is busy.
            item.add_marker(pytest.mark.timeout(600))
            group = "streams" if item.path.stem in _STREAMS else "tables"
            item.add_marker(pytest.mark.xdist_group(f"spark-{group}"))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    # Workers import what tests put into stores and tasks.
    root = str(Path(__file__).parents[2])
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    warehouse = tmp_path_factory.mktemp("warehouse")
    spark = session("local[2]", settings={"spark.sql.warehouse.dir": str(warehouse)})
    yield spark
    spark.stop()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with run_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running
