"""The only place that makes Spark sessions: jobs take the session of the DataFrames they get."""

import os
import sys
from collections.abc import Mapping
from importlib.resources import files
from typing import Final

from pyspark.sql import SparkSession

from boolcast.pipeline.java import java_home

_SETTINGS: Final = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Rows that travel to Python at a time: the engine likes large batches.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "16384",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "8",
}


def session(
    master: str | None = None, *, name: str = "boolcast", settings: Mapping[str, str] | None = None
) -> SparkSession:
    """A Spark session with quiet logs, made or taken up if there is one already.

    Without a master, a local Spark on all cores, unless the environment names another
    (`SPARK_REMOTE`, spark-submit). `settings` are Spark's own. Raises JavaError.
    """
    builder = SparkSession.builder.appName(name)
    if master is not None or "SPARK_REMOTE" not in os.environ:
        os.environ["JAVA_HOME"] = str(java_home())
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = builder.master(master or "local[*]")
        logging = files("boolcast.pipeline") / "log4j2.properties"
        builder = builder.config(
            "spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile={logging}"
        )
        if (master or "local").startswith("local"):
            builder = builder.config("spark.driver.host", "127.0.0.1")
            builder = builder.config("spark.driver.bindAddress", "127.0.0.1")
    for key, value in {**_SETTINGS, **(settings or {})}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
