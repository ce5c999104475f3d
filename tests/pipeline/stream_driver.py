"""The driver of a stream, as a process of its own that can be killed.

`python -m tests.pipeline.stream_driver <folder> <master> <format>` goes on with the stream of the
scene in the folder until there is a file `stop`. Parquet is read by the workers. It puts its own
process id and its JVM's into `pids`.
"""

import json
import os
import sys
from pathlib import Path

from boolcast.pipeline import session
from tests.pipeline.streams import SCHEMA, Scene


def main(folder: Path, master: str, form: str) -> None:
    spark = session(
        master,
        settings={
            "spark.driver.memory": "512m",
            "spark.executor.memory": "512m",
            "spark.local.dir": str(folder / "scratch"),
            "spark.sql.warehouse.dir": str(folder / "scratch"),
        },
    )
    java = spark.sparkContext._jvm
    assert java is not None
    jvm = java.java.lang.ProcessHandle.current().pid()
    partial = folder / "pids.partial"
    partial.write_text(json.dumps([os.getpid(), jvm]))
    partial.rename(folder / "pids")
    scene = Scene(folder)
    is_parquet = form == "parquet"
    events = scene.files(spark, SCHEMA, 3) if is_parquet else scene.source(spark, files=3)
    stream = scene.start(events, trigger=0.05)
    while not (folder / "stop").exists() and not stream.wait(1):
        pass
    stream.stop()
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
