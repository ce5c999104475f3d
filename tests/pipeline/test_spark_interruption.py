"""Ctrl-C in commands that use Spark, where py4j complains and breaks."""

import logging
import os
import signal
import threading
import warnings
from collections.abc import Iterator

import pytest
from py4j.protocol import Py4JNetworkError
from pyspark.core import context
from pyspark.sql import SparkSession

from boolcast.cli.input import spark as commands
from boolcast.cli.input.spark import spark_session


class FakeSession:
    """Ends as a session does whose connection was interrupted."""

    def stop(self) -> None:
        logging.getLogger("py4j.clientserver").error("while stopping")
        warnings.warn("Unable to cleanly shutdown Spark JVM process", RuntimeWarning, stacklevel=1)
        raise Py4JNetworkError("Answer from Java side is empty")


@pytest.fixture
def fake(monkeypatch) -> Iterator[None]:
    """A session that brings its own handler, as Spark's does."""
    before = signal.getsignal(signal.SIGINT)

    def session(*_: object, **__: object) -> FakeSession:
        vars(context)["signal"].signal(signal.SIGINT, signal.SIG_IGN)
        return FakeSession()

    monkeypatch.setattr(commands, "session", session)
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt() -> None:
    """Interrupt a call of py4j."""
    try:
        os.kill(os.getpid(), signal.SIGINT)
        threading.Event().wait(10)
    finally:
        logging.getLogger("py4j.java_gateway").error("while sending")
        raise Py4JNetworkError


@pytest.mark.usefixtures("fake")
def test_what_py4j_says_after_an_interrupt_is_not_shown(caplog):
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), spark_session(None, "test"):
        interrupt()
    assert not caplog.records
    assert signal.getsignal(signal.SIGINT) is before
    assert logging.root.manager.disable == logging.NOTSET


@pytest.mark.usefixtures("fake")
def test_without_an_interrupt_its_errors_are_errors(caplog):
    with (
        pytest.warns(RuntimeWarning, match="cleanly"),
        pytest.raises(Py4JNetworkError),
        spark_session(None, "test"),
    ):
        pass
    assert [each.message for each in caplog.records] == ["while stopping"]


def test_an_interrupt_while_the_session_starts_waits_for_it(fake, monkeypatch, caplog):
    """Else a Java that is half started would stay for ever."""
    steps: list[str] = []

    class Slow(FakeSession):
        def stop(self) -> None:
            steps.append("stopped")
            super().stop()

    def session(*_: object, **__: object) -> Slow:
        os.kill(os.getpid(), signal.SIGINT)
        steps.append("started")
        return Slow()

    monkeypatch.setattr(commands, "session", session)
    with pytest.raises(KeyboardInterrupt), spark_session(None, "test"):
        steps.append("used")
    assert steps == ["started", "stopped"]
    assert not caplog.records


def test_a_second_interrupt_does_not_wait_for_it(fake, monkeypatch, caplog):
    def session(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        interrupt()

    monkeypatch.setattr(commands, "session", session)
    with pytest.raises(KeyboardInterrupt), spark_session(None, "test"):
        pass
    assert not caplog.records
