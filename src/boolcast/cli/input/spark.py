"""Spark sessions for commands. Importing this takes seconds: do it inside a command."""

import logging
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from types import FrameType
from typing import NoReturn

from pyspark.sql import SparkSession

from boolcast.pipeline import session


@contextmanager
def spark_session(
    master: str | None, name: str, settings: Mapping[str, str] | None = None
) -> Iterator[SparkSession]:
    """A session that ends with the command; an active one is used and stays open."""
    is_ours = SparkSession.getActiveSession() is None
    spark = session(master, name=name, settings=settings)
    try:
        with _quietly_interrupted():
            yield spark
    finally:
        if is_ours:
            spark.stop()


@contextmanager
def _quietly_interrupted() -> Iterator[None]:
    """Make Ctrl-C just interrupt: Spark's own handler would fail its jobs with a wall of text."""

    def interrupt(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 - as signals have it
        # py4j would log a traceback of the interrupted call.
        logging.disable()
        raise KeyboardInterrupt

    disabled = logging.root.manager.disable
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        logging.disable(disabled)


def local_spark(cores: int | None, name: str) -> Callable[[], AbstractContextManager[SparkSession]]:
    """A function that starts a session with this many local cores, or the configured one."""
    return partial(spark_session, None if cores is None else f"local[{cores}]", name)
