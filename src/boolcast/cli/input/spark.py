"""Spark sessions for commands. Importing this takes seconds: do it inside a command."""

import logging
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from types import FrameType, SimpleNamespace, TracebackType
from typing import Self

from pyspark import SparkContext
from pyspark.sql import SparkSession

from boolcast.pipeline import session


@contextmanager
def spark_session(
    master: str | None, name: str, settings: Mapping[str, str] | None = None
) -> Iterator[SparkSession]:
    """A session that ends with the command; an active one is used and stays open."""
    is_ours = SparkSession.getActiveSession() is None
    with _QuietInterrupts() as interrupts:
        with interrupts.held_back():
            spark = session(master, name=name, settings=settings)
        try:
            interrupts.raise_if_any()
            yield spark
        finally:
            if is_ours:
                spark.stop()


class _QuietInterrupts:
    """Makes Ctrl-C raise KeyboardInterrupt and nothing else.

    py4j logs a traceback of the interrupted call, and later calls may fail or warn, because
    their connection was left in the middle of an answer.
    """

    def __init__(self) -> None:
        self._count = 0
        self._is_held_back = False
        self._disabled = logging.root.manager.disable
        self._warnings = warnings.catch_warnings()
        self._before = signal.getsignal(signal.SIGINT)

    def __enter__(self) -> Self:
        self._warnings.__enter__()
        signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        signal.signal(signal.SIGINT, self._before)
        logging.disable(self._disabled)
        self._warnings.__exit__(kind, error, trace)
        if self._count and isinstance(error, Exception):
            raise KeyboardInterrupt from None

    def _interrupt(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - as signals have it
        self._count += 1
        logging.disable()
        warnings.simplefilter("ignore")
        if self._count > 1 or not self._is_held_back:
            raise KeyboardInterrupt

    @contextmanager
    def held_back(self) -> Iterator[None]:
        """Let a first Ctrl-C wait: a Java that is half started would stay for ever."""
        self._is_held_back = True
        # Spark would install its own handler, which fails its jobs with a wall of text.
        module = vars(sys.modules[SparkContext.__module__])
        module["signal"] = SimpleNamespace(SIGINT=signal.SIGINT, signal=lambda *_: None)
        try:
            yield
        finally:
            module["signal"] = signal
            self._is_held_back = False

    def raise_if_any(self) -> None:
        """Raise a KeyboardInterrupt that was held back."""
        if self._count:
            raise KeyboardInterrupt


def local_spark(cores: int | None, name: str) -> Callable[[], AbstractContextManager[SparkSession]]:
    """A function that starts a session with this many local cores, or the configured one."""
    return partial(spark_session, None if cores is None else f"local[{cores}]", name)
