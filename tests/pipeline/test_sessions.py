import json
import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from boolcast.errors import UsageError
from boolcast.pipeline import session
from boolcast.pipeline.spark import sessions


def test_a_session_runs_python_on_arrow(spark):
    assert spark.range(10).mapInArrow(lambda batches: batches, "id long").count() == 10


def test_timestamps_are_in_utc(spark):
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"


# --- A session that is there


def test_the_running_session_is_taken_up(spark):
    assert session() is spark
    assert session("local[2]") is spark


def test_the_running_session_keeps_what_it_has(spark):
    spark.conf.set("spark.sql.shuffle.partitions", "5")
    try:
        session()
        assert spark.conf.get("spark.sql.shuffle.partitions") == "5"
        session(settings={"spark.sql.shuffle.partitions": "6"})
        assert spark.conf.get("spark.sql.shuffle.partitions") == "6"
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", "8")


def test_what_the_running_session_cannot_take_is_refused(spark):
    with pytest.raises(UsageError, match=r"spark.master = local\[2\], which cannot become local"):
        session("local[1]")
    with pytest.raises(UsageError, match=r"spark.ui.enabled = false.*: stop that session first"):
        session(settings={"spark.ui.enabled": "true"})
    with pytest.raises(UsageError, match=r"spark.sql.warehouse.dir = .* cannot become elsewhere"):
        session(settings={"spark.sql.warehouse.dir": "elsewhere"})
    session(settings={"spark.ui.enabled": "false"})


# --- What a new one is told


@pytest.fixture
def _bare(tmp_path, monkeypatch):
    """An environment in which nothing of Spark is configured."""
    for name in ("SPARK_REMOTE", "PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT"):
        monkeypatch.delenv(name, raising=False)
    for name in ("JAVA_HOME", "PYSPARK_PYTHON"):  # which are set, and restored
        monkeypatch.setenv(name, os.environ.get(name, ""))
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))


@pytest.mark.usefixtures("_bare")
def test_without_a_master_spark_is_local():
    options = sessions._with_own_java({}, None)
    assert options["spark.master"] == "local[*,4]"
    assert options["spark.driver.host"] == "127.0.0.1"
    assert os.environ["JAVA_HOME"]


@pytest.mark.usefixtures("_bare")
def test_a_cluster_must_reach_the_driver():
    options = sessions._with_own_java({"spark.master": "spark://host:7077"}, None)
    assert options["spark.master"] == "spark://host:7077"
    assert "spark.driver.host" not in options


@pytest.mark.usefixtures("_bare")
def test_what_is_asked_goes_before_what_is_ours():
    asked = {"spark.ui.enabled": "true", "spark.driver.host": "10.0.0.1"}
    options = sessions._with_own_java(asked, None)
    assert options.items() >= asked.items()


@pytest.mark.usefixtures("_bare")
@pytest.mark.parametrize(
    ("arguments", "defaults"),
    [
        ("--master yarn pyspark-shell", ""),
        ("--conf spark.master=yarn pyspark-shell", ""),
        ("pyspark-shell", "# ours\n  spark.master  yarn\n"),
    ],
)
def test_a_configured_master_is_left_to_spark(tmp_path, monkeypatch, arguments, defaults):
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", arguments)
    (tmp_path / "spark-defaults.conf").write_text(defaults)
    options = sessions._with_own_java({}, None)
    assert "spark.master" not in options
    assert "spark.driver.host" not in options


@pytest.mark.usefixtures("_bare")
def test_other_configuration_names_no_master(tmp_path, monkeypatch):
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--conf spark.executor.memory=1g pyspark-shell")
    (tmp_path / "spark-defaults.conf").write_text("# spark.master yarn\nspark.ui.enabled true\n")
    assert sessions._with_own_java({}, None)["spark.master"] == "local[*,4]"


def test_a_remote_spark_has_no_other_master(monkeypatch):
    monkeypatch.setenv("SPARK_REMOTE", "sc://host")
    with pytest.raises(UsageError, match=r"SPARK_REMOTE is sc://host: unset it to use .* local"):
        sessions._made("test", {"spark.master": "local[1]"})


SUBMITTED = """
import json, sys
from boolcast.pipeline import session
spark = session(name="ours", settings={"spark.sql.ansi.enabled": "false"})
keys = ["spark.master", "spark.sql.shuffle.partitions", "spark.sql.session.timeZone",
        "spark.sql.execution.arrow.maxRecordsPerBatch", "spark.sql.ansi.enabled"]
with open(sys.argv[1], "w") as file:
    json.dump({key: spark.conf.get(key) for key in keys}, file)
"""


@pytest.mark.timeout(300)
def test_under_spark_submit_its_settings_hold(tmp_path):
    script = tmp_path / "job.py"
    script.write_text(SUBMITTED)
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    command = [str(submit), "--master", "local[1]", "--conf", "spark.driver.host=127.0.0.1"]
    command += ["--conf", "spark.sql.shuffle.partitions=3", "--conf", "spark.ui.enabled=false"]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    subprocess.run(
        [*command, script, tmp_path / "told"], check=True, env=environment, capture_output=True
    )
    assert json.loads((tmp_path / "told").read_text()) == {
        "spark.master": "local[1]",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "16384",
        "spark.sql.ansi.enabled": "false",
    }
