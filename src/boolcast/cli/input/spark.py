"""Spark, for the commands that need it; imported by none of them before it runs."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial

from pyspark.sql import SparkSession

from boolcast.pipeline import session


@contextmanager
def spark_session(
    master: str | None, name: str, settings: Mapping[str, str] | None = None
) -> Iterator[SparkSession]:
    """A session that ends with the command; one that was there before is taken up and left."""
    is_ours = SparkSession.getActiveSession() is None
    spark = session(master, name=name, settings=settings)
    try:
        yield spark
    finally:
        if is_ours:
            spark.stop()


def local_spark(cores: int | None, name: str) -> Callable[[], AbstractContextManager[SparkSession]]:
    """Starts a session with so many cores of this machine, or the configured one."""
    return partial(spark_session, None if cores is None else f"local[{cores}]", name)
