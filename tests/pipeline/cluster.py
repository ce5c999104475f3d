"""A standalone Spark on this machine: a master and two workers that share no folder of ours."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import pyspark

from boolcast.pipeline.spark.java import java_home

WORKERS = 2

_HOME = Path(pyspark.__file__).parent
_DEPLOY = "org.apache.spark.deploy"

_TETHERED = '"$@" & read -r _; kill -KILL 0'
"""Ends with the pipe to its input, be it closed or its owner killed; so do all that it started."""


class Cluster(NamedTuple):
    """`caches` are the workers' own folders for local copies of an index."""

    master: str
    caches: tuple[Path, ...]


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """Runs until the block is left, however that happens; logs are in the folder."""
    caches = tuple(folder / f"cache-{number}" for number in range(WORKERS))
    with ExitStack() as stack:
        log = stack.enter_context(_running(folder, "master", f"{_DEPLOY}.master.Master"))
        master = _told(log, r"Starting Spark master at (spark://\S+)")
        arguments = [f"{_DEPLOY}.worker.Worker", "-c", "1", "-m", "1g"]
        logs = []
        for number, cache in enumerate(caches):
            work = folder / f"work-{number}"
            running = _running(
                folder, f"worker-{number}", *arguments, "-d", str(work), master, cache=cache
            )
            logs.append(stack.enter_context(running))
        for log in logs:
            _told(log, "(Successfully registered) with master")
        yield Cluster(master, caches)


@contextmanager
def _running(folder: Path, name: str, *command: str, cache: Path | None = None) -> Iterator[Path]:
    log = folder / f"{name}.log"
    environment = {
        **os.environ,
        "JAVA_HOME": str(java_home()),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_CONF_DIR": str(folder),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_HOME": str(_HOME),
        "SPARK_LOCAL_DIRS": str(folder),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "BOOLCAST_CACHE": str(cache or folder / "nobody"),
    }
    spark_class = _HOME / "bin" / "spark-class"
    places = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
    with (
        log.open("wb") as output,
        subprocess.Popen(
            ["sh", "-c", _TETHERED, "sh", spark_class, command[0], *places, *command[1:]],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            env=environment,
            start_new_session=True,
        ) as process,
    ):
        assert process.stdin is not None
        try:
            yield log
        finally:
            process.stdin.close()


def _told(log: Path, pattern: str) -> str:
    """What Spark has written about itself, as soon as it has."""
    for _ in range(900):
        match = re.search(pattern, log.read_text())
        if match:
            return match[1]
        time.sleep(0.1)
    raise TimeoutError(f"no {pattern!r} in {log}:\n{log.read_text()}")
