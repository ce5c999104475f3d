"""A stream of files and all that belongs to it, and an independent check of what came out.

Every index has the subscription `all`, which accepts every event: so the output tells which
events each batch had, and the in-process engine, loaded with the version that the batch names,
says what must be there.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from boolcast import Matcher
from boolcast.pipeline import (
    MatchStream,
    ParquetStream,
    match_stream,
    parquet_stream,
    read_batches,
)
from boolcast.pipeline.streaming.ledger import Batch

SCHEMA = "id long, price double, title string"
ALL = "id is not null"

_TICK = 2_000_000
"""In nanoseconds; Spark tells files apart by milliseconds."""


def event(number: int) -> dict[str, Any]:
    return {"id": number, "price": number % 50 + 0.5, "title": f"title {number % 7}"}


class Scene:
    """A folder with events, index, output and checkpoint."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.events = folder / "events"
        self.index = folder / "index"
        self.output = folder / "output"
        self.checkpoint = folder / "checkpoint"
        self.events.mkdir(parents=True, exist_ok=True)

    def save(self, **filters: str) -> int:
        """Save a version of the index with these subscriptions, and `all`."""
        matcher = Matcher()
        for subscription, filter in {"all": ALL, **filters}.items():
            matcher.add(subscription, filter)
        return matcher.save(self.index)

    def damage(self, version: int) -> tuple[Path, bytearray]:
        """Flip a bit of a version's first segment; gives the file and what is in it now."""
        record = json.loads((self.index / "versions" / f"{version:08}.json").read_bytes())
        segment = record["manifest"]["segments"][0]
        folder = f"{segment['number']:08}-{segment['checksum']}"
        target = self.index / "segments" / folder / segment["arrays"][0]["name"]
        data = bytearray(target.read_bytes())
        data[-1] ^= 1
        target.write_bytes(data)
        return target, data

    def put(self, name: str, rows: Iterable[Mapping[str, Any] | str]) -> None:
        """Add a file of events, all at once; strings are lines as they are."""
        lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
        partial = self.folder / f"{name}.partial"
        partial.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        self.reveal(partial, f"{name}.json")

    def put_table(self, name: str, table: pa.Table, **options: Any) -> Path:
        """Add a Parquet file of events, perhaps in a folder; gives its path."""
        partial = self.folder / "table.partial"
        pq.write_table(table, partial, **options)
        (self.events / name).parent.mkdir(parents=True, exist_ok=True)
        self.reveal(partial, f"{name}.parquet")
        return self.events / f"{name}.parquet"

    def reveal(self, partial: Path, name: str) -> None:
        """Move a file to the events, newer than the others: Spark takes the oldest first."""
        others = (path.stat().st_mtime_ns for path in self.events.rglob("*"))
        newest = max(others, default=0)
        time = max(partial.stat().st_mtime_ns, newest + _TICK)
        os.utime(partial, ns=(time, time))
        partial.replace(self.events / name)

    def source(self, spark: SparkSession, schema: str = SCHEMA, files: int = 1) -> DataFrame:
        """So many files a batch."""
        reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", files)
        return reader.json(str(self.events))

    def files(
        self, spark: SparkSession, schema: str | None = None, files: int = 1
    ) -> ParquetStream:
        """So many Parquet files a batch, which workers read."""
        options = {"maxFilesPerTrigger": files}
        return parquet_stream(spark, str(self.events), schema=schema, spark_options=options)

    def texts(self, spark: SparkSession) -> DataFrame:
        """The lines themselves, with an id that a line may hold as JSON."""
        reader = spark.readStream.option("maxFilesPerTrigger", 1)
        lines = reader.text(str(self.events))
        return lines.selectExpr("coalesce(get_json_object(value, '$.id'), 'none') as id", "value")

    def start(self, events: DataFrame | ParquetStream, **changed: Any) -> MatchStream:
        arguments = {
            "event_id": "id",
            "output": self.output,
            "checkpoint": str(self.checkpoint),
            "trigger": None,
            **changed,
        }
        return match_stream(events, arguments.pop("store", self.index), **arguments)

    def run(self, spark: SparkSession, **changed: Any) -> list[Batch]:
        """Match all that is there, with a new stream; gives what it published."""
        stream = self.start(self.source(spark), **changed)
        stream.wait()
        return stream.published()

    def rows(self, table: str = "matches") -> Iterator[dict[str, Any]]:
        """What a reader sees now, by the manifests; each file must be there and whole."""
        for batch in read_batches(self.output):
            for file in getattr(batch, table):
                read = pq.ParquetFile(self.output / file.name).read()
                assert read.num_rows == file.rows
                yield from read.to_pylist()

    def leftovers(self) -> set[str]:
        """The data files that no manifest names."""
        named = {
            file.name
            for batch in read_batches(self.output)
            for file in (*batch.matches, *batch.dead_letters)
        }
        tables = ("matches", "dead_letters")
        there = {
            path.relative_to(self.output).as_posix()
            for table in tables
            for path in (self.output / table).rglob("*")
            if path.is_file()
        }
        return there - named

    def verify(self, rows: Iterable[Mapping[str, Any]], numbers: Iterable[int]) -> None:
        """Exactly these events, once each; each batch as its one version says."""
        found: dict[int, Counter[tuple[int, str]]] = {}
        versions: dict[int, set[int]] = {}
        for row in rows:
            found.setdefault(row["batch"], Counter())[row["id"], row["subscription"]] += 1
            versions.setdefault(row["batch"], set()).add(row["version"])
        published = {batch.batch: batch.version for batch in read_batches(self.output)}
        events: Counter[int] = Counter()
        for batch, pairs in found.items():
            assert versions[batch] == {published[batch]}
            matcher = Matcher.load(self.index, version=published[batch])
            seen = [number for number, subscription in pairs if subscription == "all"]
            events.update(seen)
            expected = {(each, name) for each in seen for name in matcher.match(event(each))}
            assert pairs == Counter(expected)
        assert events == Counter(numbers)
