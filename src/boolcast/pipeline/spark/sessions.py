"""The only module that creates Spark sessions: jobs use the session of their DataFrames."""

import os
import re
import sys
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Final

import pyspark
from pyspark.errors import PySparkAttributeError, PySparkException, PySparkRuntimeError
from pyspark.sql import SparkSession

from boolcast.errors import UsageError
from boolcast.pipeline.spark.java import java_home

_SETTINGS: Final = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Rows that are sent to Python at a time: the engine is faster with large batches.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "16384",
}

_LOCAL_SETTINGS: Final = {"spark.sql.shuffle.partitions": "8"}


def session(
    master: str | None = None, *, name: str = "boolcast", settings: Mapping[str, str] | None = None
) -> SparkSession:
    """The running Spark session, or a new one with quiet logs.

    Without `master`, it is what spark-submit, Spark's configuration or `SPARK_REMOTE` says, else
    a local Spark on all cores. `settings` are Spark's own.

    A running session keeps its configuration except for `settings`. Raises UsageError if it
    cannot take them or has another master, and JavaError if there is no Java.
    """
    asked = {**({} if master is None else {"spark.master": master}), **(settings or {})}
    try:
        running = SparkSession.active()
    except PySparkRuntimeError:
        return _made(name, asked)
    _adapt(running, asked)
    return running


def _made(name: str, asked: Mapping[str, str]) -> SparkSession:
    remote = os.environ.get("SPARK_REMOTE")
    if remote is not None and "spark.master" in asked:
        raise UsageError(
            f"SPARK_REMOTE is {remote}: unset it to use the master {asked['spark.master']}"
        )
    if remote is not None and not remote.startswith("local"):
        options = asked
    elif "PYSPARK_GATEWAY_PORT" in os.environ:
        # spark-submit runs us, and has started and configured its own Java.
        options = asked
    else:
        options = _with_own_java(asked, remote)
    builder = SparkSession.builder.appName(name)
    for key, value in options.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    local = options.get("spark.master", "").startswith("local")
    ours = {**_SETTINGS, **(_LOCAL_SETTINGS if local else {})}
    already_set = {*asked, *_configured(spark)}
    for key, value in ours.items():
        if key not in already_set:
            spark.conf.set(key, value)
    return spark


def _with_own_java(asked: Mapping[str, str], remote: str | None) -> dict[str, str]:
    """Prepare the environment for the Java that Spark starts; gives the options for its start."""
    os.environ["JAVA_HOME"] = str(java_home())
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    logging = files("boolcast.pipeline.spark") / "log4j2.properties"
    options = {
        "spark.driver.extraJavaOptions": f'-Dlog4j2.configurationFile="{logging}"',
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **asked,
    }
    if remote is None and "spark.master" not in asked and not _master_is_configured():
        # A task is tried four times, as on a cluster: local[*] alone would give up at once.
        options["spark.master"] = "local[*,4]"
    if (remote or options.get("spark.master", "")).startswith("local"):
        # The machine's host name need not resolve to it.
        options.setdefault("spark.driver.host", "127.0.0.1")
        options.setdefault("spark.driver.bindAddress", "127.0.0.1")
    return options


def _master_is_configured() -> bool:
    """True if the Spark that we start finds a master in its own configuration."""
    if re.search(r"--master\b|\bspark\.master\b", os.environ.get("PYSPARK_SUBMIT_ARGS", "")):
        return True
    home = os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent
    folder = os.environ.get("SPARK_CONF_DIR") or Path(home, "conf")
    try:
        defaults = Path(folder, "spark-defaults.conf").read_text(encoding="utf-8")
    except OSError:
        return False
    return re.search(r"^\s*spark\.master\b", defaults, re.MULTILINE) is not None


def _configured(spark: SparkSession) -> Iterable[str]:
    """What spark-submit and Spark's configuration have set; Spark Connect does not say."""
    try:
        return [key for key, _ in spark.sparkContext.getConf().getAll()]
    except PySparkAttributeError:
        return []


def _adapt(running: SparkSession, asked: Mapping[str, str]) -> None:
    for key, value in asked.items():
        present = running.conf.get(key, None)
        if present != value and not _is_set(running, key, value):
            raise UsageError(
                f"a Spark session is running with {key} = {present}, which cannot become {value}: "
                "stop that session first"
            )


def _is_set(running: SparkSession, key: str, value: str) -> bool:
    # Spark silently accepts some others that only matter at its start.
    if not key.startswith("spark.sql."):
        return False
    try:
        running.conf.set(key, value)
    except PySparkException:
        return False
    return True
