"""Which of the filters that a neighbour must know are sent: covering none, active or lazy."""

from collections.abc import Callable
from typing import Protocol

from boolcast.matching.relations.covering_index import CoveringIndex
from boolcast.routing.tables.covering_graph import Node, RelationGraph, Told, ToldAll


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
