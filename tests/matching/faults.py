"""Stores that fail, stop or forget, and small segments to put into them."""

import errno
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Semaphore, Thread
from typing import NoReturn
from unittest.mock import patch

import numpy as np

from boolcast.matching.store.snapshots import StoredSegment
from boolcast.matching.store.store import Store

WRITES = ("put_if_absent", "delete")
CALLS = ("get", "path", "list", *WRITES)

BEFORE, SYNCING, LINKING, AFTER = POINTS = ("before", "syncing", "linking", "after")
"""Where in a write it happens; SYNCING: all is written; LINKING: and synced, but has no name."""

STEPS = {SYNCING: "fsync", LINKING: "link"}
"""The functions of `os` before whose first call in a write the points lie."""

KILLED = 86


def no_space() -> NoReturn:
    raise OSError(errno.ENOSPC, "No space left on device")


def die() -> NoReturn:
    os._exit(KILLED)


class FaultyStore:
    """Does what `store` does, and `fault` too at the `at`-th call (from 1) of the `operations`.

    `reached` tells whether there was such a call.
    """

    def __init__(
        self,
        store: Store,
        at: int,
        fault: Callable[[], object],
        *,
        point: str = BEFORE,
        operations: Collection[str] = WRITES,
    ) -> None:
        self.store = store
        self.at = at
        self.fault = fault
        self.point = point
        self.operations = operations
        self.calls = 0

    @property
    def reached(self) -> bool:
        return self.calls >= self.at

    def __str__(self) -> str:
        return str(self.store)

    def get(self, name: str) -> bytes:
        with self._call("get"):
            return self.store.get(name)

    def path(self, name: str) -> Path | None:
        with self._call("path"):
            return self.store.path(name)

    def forget(self, name: str) -> bool:
        return self.store.forget(name)

    def put_if_absent(self, name: str, data: bytes) -> bool:
        with self._call("put_if_absent"):
            return self.store.put_if_absent(name, data)

    def list(self, prefix: str) -> list[str]:
        with self._call("list"):
            return self.store.list(prefix)

    def delete(self, name: str) -> None:
        with self._call("delete"):
            self.store.delete(name)

    @contextmanager
    def _call(self, operation: str) -> Iterator[None]:
        self.calls += operation in self.operations
        if self.calls != self.at or operation not in self.operations:
            yield
        elif self.point in STEPS:
            step = STEPS[self.point]
            real = getattr(os, step)

            def strike(*arguments: object) -> object:
                setattr(os, step, real)
                self.fault()
                return real(*arguments)

            with patch.object(os, step, strike):
                yield
        else:
            if self.point == BEFORE:
                self.fault()
            yield
            if self.point == AFTER:
                self.fault()


class SteppedStore(FaultyStore):
    """Does `fault` before every call: the place where another may take its turn."""

    def __init__(self, store: Store, fault: Callable[[], object]) -> None:
        super().__init__(store, 0, fault, operations=CALLS)

    @contextmanager
    def _call(self, operation: str) -> Iterator[None]:
        self.fault()
        yield


def take_turns(
    store: Store,
    actors: Sequence[Callable[[Store], object]],
    choose: Callable[[int], int],
    check: Callable[[], object],
) -> None:
    """Run all actors on one store, a single call of the store at a time, with `check` after each.

    `choose(n)` is whose turn it is among the n that are not done. The first error is raised.
    """
    back = Semaphore(0)
    errors: list[BaseException] = []
    waiting = []

    def run(actor: Callable[[Store], object], go: Semaphore, done: Event) -> None:
        def pause() -> None:
            back.release()
            go.acquire()

        go.acquire()
        try:
            actor(SteppedStore(store, pause))
        except BaseException as error:  # noqa: BLE001 raised in the test's own thread below
            errors.append(error)
        done.set()
        back.release()

    for actor in actors:
        go, done = Semaphore(0), Event()
        Thread(target=run, args=(actor, go, done), daemon=True).start()
        waiting.append((go, done))
    while waiting and not errors:
        place = choose(len(waiting))
        go, done = waiting[place]
        go.release()
        back.acquire()
        if done.is_set():
            del waiting[place]
        check()
    if errors:
        raise errors[0]


class MemoryStore:
    """A store without local files, like an object store."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}

    def __str__(self) -> str:
        return "memory"

    def get(self, name: str) -> bytes:
        if name not in self.contents:
            raise FileNotFoundError(name)
        return self.contents[name]

    def path(self, name: str) -> None:
        return None

    def forget(self, name: str) -> bool:
        return False

    def put_if_absent(self, name: str, data: bytes) -> bool:
        return self.contents.setdefault(name, data) is data

    def list(self, prefix: str) -> list[str]:
        return sorted(name for name in self.contents if name.startswith(prefix))

    def delete(self, name: str) -> None:
        self.contents.pop(name, None)


def segment(seed: int) -> StoredSegment:
    """A small segment with all kinds of shapes; another seed, another content."""
    arrays = {
        "codes": np.arange(seed, seed + 12, dtype=np.int32).reshape(3, 4),
        "flags": np.array([seed % 2 == 0, True]),
    }
    return StoredSegment(arrays, f"segment {seed}".encode())


OLD = [segment(1), segment(2)]
NEW = [segment(2), segment(3)]
