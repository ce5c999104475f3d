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
    with _quietly_interrupted() as handle_interrupts:
        spark = session(master, name=name, settings=settings)
        # A new session brings its own handler, which would fail its jobs with a wall of text.
        handle_interrupts()
        try:
            yield spark
        finally:
            if is_ours:
                spark.stop()


@contextmanager
def _quietly_interrupted() -> Iterator[Callable[[], None]]:
    """Make Ctrl-C raise KeyboardInterrupt and nothing else; yields what installs the handler.

    py4j logs a traceback of the interrupted call, and later calls may fail, because their
    connection was left in the middle of an answer.
    """
    is_interrupted = False

    def interrupt(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 - as signals have it
        nonlocal is_interrupted
        is_interrupted = True
        logging.disable()
        raise KeyboardInterrupt

    def install() -> None:
        signal.signal(signal.SIGINT, interrupt)

    disabled = logging.root.manager.disable
    before = signal.getsignal(signal.SIGINT)
    install()
    try:
        yield install
    except Exception:
        if is_interrupted:
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, before)
        logging.disable(disabled)


def local_spark(cores: int | None, name: str) -> Callable[[], AbstractContextManager[SparkSession]]:
    """A function that starts a session with this many local cores, or the configured one."""
    return partial(spark_session, None if cores is None else f"local[{cores}]", name)
