"""What many tests begin with, made once: compiled kernels, and an archive of Spark's classes.

`make test` runs this first. Both are only faster ways to the same end: tests that find neither
compile and load as they go. The archive (Java's AppCDS) halves the start of every Spark.
"""

import os
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Final

ARCHIVE: Final = Path(sys.prefix) / f"spark-{version('pyspark')}-classes.jsa"

# Java's second compiler pays after minutes, and tests take seconds. A Java that cannot use the
# archive, because another one wrote it, starts without it and says nothing.
FAST_JAVA: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xlog:disable"

KERNELS: Final = """
from boolcast import Matcher, parse
from boolcast.matching.counting.engine import CountingMatcher
from boolcast.matching.diagrams.engine import MbdEngine
from boolcast.matching.relations.overlap_index import OverlapIndex

filter = parse("a = 1 and b like 'x%' or c between 2 and 3 or d is null and not (e > 'k')")
for engine in (Matcher(), CountingMatcher(), MbdEngine()):
    for number in range(3):
        engine.add(f"s{number}", filter)
    engine.match({"a": 1, "b": "xy", "c": 2.5})
    engine.match_batch(b'{"a": 1, "b": "xy"}\\n{"c": 2.5, "e": "z"}\\n')
    engine.remove("s0")
index = OverlapIndex()
index.add("a", filter)
index.all(filter)
"""

SPARK: Final = """
import sys
from boolcast import pipeline

folder = sys.argv[1]
spark = pipeline.session("local[2]", settings={"spark.sql.shuffle.partitions": "2"})
subscriptions = spark.createDataFrame([("a", "x < 5")], "subscription string, filter string")
pipeline.build_index(subscriptions, f"{folder}/index")
events = spark.range(100).selectExpr("id", "id as x")
events.write.parquet(f"{folder}/events")
pipeline.match(events, f"{folder}/index", event_id="id").groupBy("subscription").count().collect()
pipeline.match_stream(
    spark.readStream.schema(events.schema).parquet(f"{folder}/events"),
    f"{folder}/index",
    event_id="id",
    output=f"{folder}/output",
    checkpoint=f"{folder}/checkpoint",
    trigger=None,
).wait()
gateway = spark.sparkContext._gateway
spark.stop()
# Java writes the archive as it ends.
gateway.shutdown()
gateway.proc.stdin.close()
gateway.proc.wait()
"""


def java_options() -> str:
    """Options for a Spark that lives for seconds."""
    return f"{FAST_JAVA} -XX:SharedArchiveFile={ARCHIVE}" if ARCHIVE.exists() else FAST_JAVA


def prepare() -> None:
    """Compile the kernels and, where there is none yet, write the archive, side by side."""
    with tempfile.TemporaryDirectory() as folder:
        steps = [subprocess.Popen([sys.executable, "-c", KERNELS])]
        written = Path(folder) / "classes.jsa"
        if not ARCHIVE.exists():
            sys.stdout.write("compiling the kernels, and archiving Spark's classes\n")
            options = {"SPARK_SUBMIT_OPTS": f"{FAST_JAVA} -XX:ArchiveClassesAtExit={written}"}
            steps.append(
                subprocess.Popen(
                    [sys.executable, "-c", SPARK, folder],
                    env=os.environ | options,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )
        for step in steps:
            step.wait()
        if written.exists():
            partial = ARCHIVE.with_suffix(".partial")
            partial.write_bytes(written.read_bytes())
            partial.replace(ARCHIVE)


if __name__ == "__main__":
    prepare()
