"""Tasks in processes of their own."""

import multiprocessing
import os
import signal
from multiprocessing import resource_tracker, util
from typing import Any

import pytest

from boolcast.simulation.workers import run_in_processes

pytestmark = pytest.mark.slow


def square(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def after_death(number: int, exit_code: int) -> int:
    return exit_code * 100 - number


@pytest.mark.parametrize("cores", [1, 2])
def test_results_come_in_order_and_a_death_is_told(cores):
    found = run_in_processes(square, range(7), cores=cores, after_death=after_death)
    assert list(found) == [0, 1, 4, -903, 16, 25, 36]
    assert not multiprocessing.active_children()


def test_whoever_stops_listening_stops_the_work():
    found = run_in_processes(square, range(100), cores=2, after_death=after_death)
    assert next(found) == 0
    found.close()
    assert not multiprocessing.active_children()


def ignored_signals(number: int) -> tuple[bool, set[int]]:
    is_ignored = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    return is_ignored, {*signal.pthread_sigmask(signal.SIG_BLOCK, set())}


def test_ctrl_c_waits_while_a_process_starts(monkeypatch):
    """A first process too, whose start brings another one that unblocks signals."""
    resource_tracker._resource_tracker._stop()  # type: ignore[attr-defined]
    blocked: list[set[int]] = []
    spawn = util.spawnv_passfds

    def recorded(*arguments: Any) -> int:
        blocked.append({*signal.pthread_sigmask(signal.SIG_BLOCK, set())})
        return spawn(*arguments)

    monkeypatch.setattr(util, "spawnv_passfds", recorded)
    found = run_in_processes(ignored_signals, [0], cores=1, after_death=lambda *_: (False, set()))
    assert list(found) == [(True, set())]
    assert {signal.SIGINT, signal.SIGTERM} <= blocked[-1]
    assert not {signal.SIGINT, signal.SIGTERM} & signal.pthread_sigmask(signal.SIG_BLOCK, set())
