"""The runs of a reproduction as a Spark job: a configuration is a row, and a task of its own.

Rows of results come back, and each task puts its result into the folder as soon as it has it, so
that nothing is run twice if the job is stopped. That takes a Spark whose tasks see the driver's
files, as a local one does.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
from pyspark.sql.types import StringType, StructField, StructType

from boolcast.experiments.advertisements import RunFigures, Setting, run
from boolcast.experiments.kept_runs import keep, kept

RESULTS: Final = StructType(
    [StructField("label", StringType(), False), StructField("figures", StringType(), False)]
)
_ARROW: Final = pa.schema([("label", pa.string()), ("figures", pa.string())])
_SETTING: Final[msgspec.json.Decoder[Setting]] = msgspec.json.Decoder(Setting)
_FIGURES: Final[msgspec.json.Decoder[RunFigures]] = msgspec.json.Decoder(RunFigures)


def configurations(spark: SparkSession, chosen: Sequence[Setting]) -> DataFrame:
    """A column `setting` of JSON, each row in a partition of its own, in this order."""
    count = len(chosen)
    texts = [F.lit(msgspec.json.encode(each).decode()) for each in chosen]
    numbers = spark.range(0, count, 1, count)
    setting = F.get(F.array(*texts), numbers["id"])
    return numbers.select(setting.alias("setting"))


def results(settings: DataFrame, folder: Path) -> DataFrame:
    """Run each configuration; `label` and JSON of `figures`."""
    place = folder.absolute()
    return settings.mapInArrow(lambda batches: _carried_out(batches, place), RESULTS)


def _carried_out(batches: Iterable[pa.RecordBatch], folder: Path) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for text in batch.column("setting").to_pylist():
            found = run(_SETTING.decode(text))
            keep(folder, found)
            row = [found.setting.label], [msgspec.json.encode(found).decode()]
            yield pa.record_batch([pa.array(column) for column in row], schema=_ARROW)


def reproduce(
    start: Callable[[], AbstractContextManager[SparkSession]],
    chosen: Sequence[Setting],
    folder: Path,
    tell: Callable[[float, str], None] = lambda share, text: None,
) -> list[RunFigures]:
    """The results of all; those that are in the folder are taken from there.

    Spark is started only if something is left to run.
    `tell` hears the share that is done, and in words.
    """
    done = {
        each.label: found for each in chosen if (found := kept(folder, each, _FIGURES)) is not None
    }
    waiting = [each for each in chosen if each.label not in done]
    if waiting:
        with start() as spark, ThreadPoolExecutor(1) as pool:
            job = pool.submit(results(configurations(spark, waiting), folder).collect)
            while not wait([job], timeout=1.0).done:
                _tell_how_far(chosen, folder, tell)
            for row in job.result():
                done[row.label] = _FIGURES.decode(row.figures)
    return [done[each.label] for each in chosen]


def _tell_how_far(
    chosen: Sequence[Setting], folder: Path, tell: Callable[[float, str], None]
) -> None:
    present = {path.stem for path in (folder / "runs").glob("*.json")}
    ready = [each for each in chosen if each.label in present]
    share = sum(each.size for each in ready) / sum(each.size for each in chosen)
    tell(share, f"{len(ready)} of {len(chosen)} runs")
