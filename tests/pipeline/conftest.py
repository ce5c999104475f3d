"""One local Spark for many tests of the pipeline: it takes twenty seconds to warm up."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from boolcast.pipeline import session
from tests.pipeline.cluster import Cluster
from tests.pipeline.cluster import cluster as run_cluster
from tests.prepare import java_options

# Also for those that start a Spark of their own. Unlike JAVA_TOOL_OPTIONS these are not repeated on
# standard error.
os.environ.setdefault("SPARK_SUBMIT_OPTS", java_options())
os.environ.setdefault("SPARK_DAEMON_JAVA_OPTS", java_options())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.slow)
            # The first one waits for Spark, which takes minutes where the machine is busy.
            item.add_marker(pytest.mark.timeout(600))
    # These first: workers of pytest-xdist take file after file, and end together only if the
    # last files are short.
    items.sort(key=lambda item: here not in item.path.parents)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    # Workers import what tests put into stores and tasks.
    root = str(Path(__file__).parents[2])
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    warehouse = tmp_path_factory.mktemp("warehouse")
    settings = {
        "spark.sql.warehouse.dir": str(warehouse),
        # There is little to shuffle.
        "spark.sql.shuffle.partitions": "2",
        # Tables are small: compiling each query costs more than interpreting it.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }
    spark = session("local[2]", settings=settings)
    yield spark
    spark.stop()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with run_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running
