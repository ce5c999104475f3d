"""Which of the filters that a neighbour must know it is told: covering none, active, lazy."""

from collections.abc import Callable, Iterator
from typing import Protocol

from boolcast.matching.relations.analysed_filters import AnalysedFilter
from boolcast.matching.relations.covering_index import CoveringIndex
from boolcast.routing.tables.covering_graph import Change, Node, RelationGraph


class Told(Protocol):
    """The filters that one neighbour must know, by id, and which of them it is told.

    Whatever is not told is covered by something that is. Changes say what to send.
    """

    def __len__(self) -> int: ...

    def __contains__(self, name: str) -> bool: ...

    def __iter__(self) -> Iterator[str]: ...

    def forwarded(self) -> list[str]:
        """What the neighbour is told, by id."""

    def quenches(self, name: str) -> bool:
        """True if something is not told because this one is."""

    def above(self, name: str) -> str | None:
        """The one because of which this one is not told, or told only in turn."""

    def insert(self, name: str, form: AnalysedFilter) -> Change:
        """The neighbour must know this one from now on."""

    def insert_forwarded(self, name: str, form: AnalysedFilter) -> None:
        """The neighbour must know this one, and does."""

    def remove(self, name: str) -> Change:
        """The neighbour need not know this one any longer."""


class ToldAll:
    """No covering: the neighbour is told everything."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def forwarded(self) -> list[str]:
        return list(self._names)

    def quenches(self, name: str) -> bool:  # noqa: ARG002 - nothing ever does
        return False

    def above(self, name: str) -> str | None:  # noqa: ARG002 - nothing is quenched
        return None

    def insert(self, name: str, form: AnalysedFilter) -> Change:  # noqa: ARG002 - whatever it is
        self._names[name] = None
        return Change([name], [])

    def insert_forwarded(self, name: str, form: AnalysedFilter) -> None:
        self.insert(name, form)

    def remove(self, name: str) -> Change:
        del self._names[name]
        return Change([], [name])


class CoveringPolicy(Protocol):
    """Makes the `Told` of a link. Each gets coverings of its own."""

    def told(self) -> Told:
        """Nothing must be known yet."""


class NoCovering:
    """Everything is forwarded."""

    def __init__(self, coverings: Callable[[], CoveringIndex[Node]]) -> None:
        pass

    def told(self) -> Told:
        return ToldAll()


class ActiveCovering:
    """Only what nothing else covers is forwarded, and what is covered later is withdrawn."""

    def __init__(self, coverings: Callable[[], CoveringIndex[Node]]) -> None:
        self._coverings = coverings

    def told(self) -> Told:
        return RelationGraph(self._coverings(), adopts_roots=True)


class LazyCovering:
    """What is covered when it comes is not forwarded; what was forwarded stays."""

    def __init__(self, coverings: Callable[[], CoveringIndex[Node]]) -> None:
        self._coverings = coverings

    def told(self) -> Told:
        return RelationGraph(self._coverings(), adopts_roots=False)
