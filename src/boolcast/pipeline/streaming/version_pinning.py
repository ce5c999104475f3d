"""Which version of an index serves a batch: the newest that can be read, bound before the work.

A version is verified byte by byte in the driver before a batch is bound to it, which takes 0.06 s
for 200,000 subscriptions: one that is damaged would otherwise fail the batch, again and again.
"""

from boolcast.errors import StoreError
from boolcast.matching.store.snapshots import load, versions
from boolcast.matching.store.store import Store
from boolcast.pipeline.streaming.ledger import Ledger


class Serving:
    """The versions of an index, as one driver sees them; `warnings` tells what was passed over."""

    def __init__(self, index: Store) -> None:
        self._index = index
        self._verified: int | None = None
        self._warned: set[int] = set()
        self._warnings: list[str] = []

    def newest(self) -> int:
        """The newest version that can be read. Raises StoreError if there is none."""
        present = versions(self._index)
        problem: StoreError | None = None
        for version in reversed(present):
            try:
                self._verify(version)
            except StoreError as error:
                problem = problem or error
                self._warn(version, f"version {version} of the index is passed over: {error}")
            else:
                return version
        if problem is not None:
            raise problem
        raise StoreError(f"there is no index in {self._index}: build one there first")

    def bind(self, ledger: Ledger, batch: int) -> int:
        """The version that the batch is bound to, which is the newest if it was not bound yet.

        A version that is no more, or cannot be read, is given up for the newest: the batch has
        not been published, so nobody has seen a result by the old one.
        """
        bound = ledger.pinned(batch)
        while True:
            if bound is None:
                bound = ledger.pin(batch, self.newest())
            try:
                # After it was bound: from now on collectors spare the version.
                if bound in versions(self._index):
                    self._verify(bound)
                    return bound
                gone = f"batch {batch} was bound to version {bound} of the index, which is gone"
            except StoreError as error:
                gone = f"batch {batch} was bound to version {bound} of the index: {error}"
            self._warn(bound, f"{gone}; the newest is taken")
            ledger.unpin(batch)
            bound = None

    def warnings(self) -> tuple[str, ...]:
        """What there is to tell since the last call."""
        told = tuple(self._warnings)
        self._warnings.clear()
        return told

    def _verify(self, version: int) -> None:
        if version != self._verified:
            load(self._index, version)
            self._verified = version

    def _warn(self, version: int, text: str) -> None:
        if version not in self._warned:
            self._warned.add(version)
            self._warnings.append(text)
