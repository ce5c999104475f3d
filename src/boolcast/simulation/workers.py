"""Run tasks in processes. A process that dies is noticed, and none outlives its parent."""

import multiprocessing
import signal
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, Final, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_BLOCKED: Final = {signal.SIGINT, signal.SIGTERM}
"""Signals that wait while a process starts."""


def run_in_processes(
    function: Callable[[T], R],
    tasks: Sequence[T],
    *,
    cores: int,
    after_death: Callable[[T, int], R],
) -> Generator[R, None, None]:
    """Run the function for each task on so many cores; results come in the order of the tasks.

    If a process ends by itself, `after_death` makes the result of its task from the exit code. A
    pool of `multiprocessing` would wait for ever.
    """
    left = iter(range(len(tasks)))
    busy: dict[Connection, tuple[SpawnProcess, int]] = {}
    done: dict[int, R] = {}
    told = 0
    processes: list[SpawnProcess] = []

    def give(pipe: Connection, process: SpawnProcess) -> None:
        number = next(left, None)
        if number is not None:
            busy[pipe] = (process, number)
            # A dead process is noticed when we wait for its answer.
            with suppress(OSError):
                pipe.send(tasks[number])

    try:
        for _ in range(min(cores, len(tasks))):
            give(*_start(function, processes))
        while told < len(tasks):
            for pipe in wait(list(busy)):
                assert isinstance(pipe, Connection)
                process, number = busy.pop(pipe)
                try:
                    done[number] = pipe.recv()
                except (EOFError, OSError):
                    process.join()
                    done[number] = after_death(tasks[number], process.exitcode or 0)
                    give(*_start(function, processes))
                else:
                    give(pipe, process)
            while told in done:
                yield done.pop(told)
                told += 1
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


def _start(
    function: Callable[[T], R], processes: list[SpawnProcess]
) -> tuple[Connection, SpawnProcess]:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(function, there), daemon=True)
    with _undisturbed():
        process.start()
        processes.append(process)
    there.close()  # So that the pipe ends with the process.
    return here, process


@contextmanager
def _undisturbed() -> Generator[None, None, None]:
    """Let SIGTERM and Ctrl-C wait: a process that is half started would complain about them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Its start would unblock both.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _BLOCKED)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(function: Callable[[Any], Any], pipe: Connection) -> None:
    # Ctrl-C reaches all processes of a terminal; the parent ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        # Inherited from `_undisturbed`.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _BLOCKED)
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        pipe.send(function(task))
