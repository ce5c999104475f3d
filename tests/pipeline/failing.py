"""Stores that fail or are beaten to it, on the driver and on executors alike."""

from collections.abc import Sequence
from itertools import count
from pathlib import Path

from boolcast.matching.store.snapshots import StoredSegment, publish
from boolcast.matching.store.store import FolderStore
from tests.matching.faults import no_space


class FullStore(FolderStore):
    """A folder on a disk that is full at the `at`-th write, counted over all processes."""

    def __init__(self, folder: Path, writes: Path, at: int) -> None:
        super().__init__(folder)
        self.writes = writes
        self.at = at
        writes.mkdir()

    @property
    def reached(self) -> bool:
        """True once there was such a write."""
        return (self.writes / str(self.at)).exists()

    def put_if_absent(self, name: str, data: bytes) -> bool:
        if self._number() == self.at:
            no_space()
        return super().put_if_absent(name, data)

    def _number(self) -> int:
        for number in count(1):
            try:
                (self.writes / str(number)).touch(exist_ok=False)
            except FileExistsError:
                continue
            return number
        raise AssertionError


class ContestedStore(FolderStore):
    """A folder where another writer publishes right before we do, so many times."""

    def __init__(
        self, folder: Path, other_writer: tuple[Sequence[StoredSegment], bytes], *, times: int
    ) -> None:
        super().__init__(folder)
        self.other_writer = other_writer
        self.times = times

    def put_if_absent(self, name: str, data: bytes) -> bool:
        if name.startswith("versions/") and self.times:
            self.times -= 1
            publish(FolderStore(self.folder), *self.other_writer)
        return super().put_if_absent(name, data)
