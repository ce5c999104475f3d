"""Who covers whom among the filters that one neighbour must know (P4-B1).

A forest: below a node are filters that it covers, one parent each, and siblings do not cover one
another. The nodes at the top are what the neighbour is told; the others are quenched. Equal
filters share a node, and the first of its members stands for all.

There is one graph for each outgoing link, and a filter is in it only if that neighbour must know
it. With a single graph for the whole broker a subscription that is covered only by one from that
very neighbour would never be sent there (Z1, trap 17).
"""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from boolcast.matching.relations.analysed_filters import AnalysedFilter
from boolcast.matching.relations.covering_index import CoveringIndex


class Change(NamedTuple):
    """What a neighbour must be told, in this order, so that it never knows too little (R2)."""

    forward: list[str]
    withdraw: list[str]


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

    def insert(self, name: str, analysed: AnalysedFilter) -> Change:
        """The neighbour must know this one from now on."""

    def insert_forwarded(self, name: str, analysed: AnalysedFilter) -> None:
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

    def insert(self, name: str, analysed: AnalysedFilter) -> Change:  # noqa: ARG002 - whatever it is
        self._names[name] = None
        return Change([name], [])

    def insert_forwarded(self, name: str, analysed: AnalysedFilter) -> None:
        self.insert(name, analysed)

    def remove(self, name: str) -> Change:
        del self._names[name]
        return Change([], [name])


class Node:
    """A filter, those who ask for it in the order of their coming, and what it covers."""

    __slots__ = ("analysed", "children", "members", "order", "parent")

    def __init__(self, analysed: AnalysedFilter, order: int) -> None:
        self.analysed = analysed
        self.order = order
        # A node that is its own parent is not in the graph yet; None is the virtual root.
        self.parent: Node | None = self
        self.children: dict[Node, None] = {}
        self.members: dict[str, None] = {}

    @property
    def leader(self) -> str:
        """The member by whose id the neighbour knows the filter, if it is at the top."""
        return next(iter(self.members))


class RelationGraph:
    """The simplified relation graph of one outgoing link, over coverings that are empty at first.

    `adopts_roots`: a newcomer takes over the roots that it covers (active covering, P4-A4);
    otherwise they stay what they are (lazy covering, P4-A5).
    """

    def __init__(self, coverings: CoveringIndex[Node], *, adopts_roots: bool) -> None:
        self.adopts_roots = adopts_roots
        self.roots: dict[Node, None] = {}
        self.nodes: dict[str, Node] = {}
        self._by_filter: dict[AnalysedFilter, Node] = {}
        self._coverings = coverings
        self._next = 0

    def __len__(self) -> int:
        return len(self.nodes)

    def __contains__(self, name: str) -> bool:
        return name in self.nodes

    def __iter__(self) -> Iterator[str]:
        return iter(self.nodes)

    def forwarded(self) -> list[str]:
        """What the neighbour is told, by id."""
        return [node.leader for node in self.roots]

    def quenches(self, name: str) -> bool:
        """True if something else is not told because this one is; it must be forwarded."""
        node = self.nodes[name]
        return bool(node.children) or len(node.members) > 1

    def above(self, name: str) -> str | None:
        """The leader of its node, or of the node above where it is the leader itself."""
        node = self.nodes[name]
        if node.leader != name:
            return node.leader
        return None if node.parent is None else node.parent.leader

    def insert(self, name: str, analysed: AnalysedFilter) -> Change:
        """Take up a filter that is not in the graph yet."""
        node = self._by_filter.get(analysed)
        if node is not None:
            self._join(node, name)
            return Change([], [])
        node = self._new_node(analysed)
        self._join(node, name)
        displaced = self._insert_below(node, None)
        return Change([name] if node.parent is None else [], [root.leader for root in displaced])

    def insert_forwarded(self, name: str, analysed: AnalysedFilter) -> None:
        """Take up a filter that the neighbour knows already, whatever may cover it."""
        assert analysed not in self._by_filter, "equal filters are forwarded once"
        node = self._new_node(analysed)
        self._join(node, name)
        self._attach(node, None)

    def remove(self, name: str) -> Change:
        """Forget a filter; what only it had covered is to be forwarded."""
        node = self.nodes.pop(name)
        was_forwarded = node.parent is None and node.leader == name
        del node.members[name]
        withdraw = [name] if was_forwarded else []
        if node.members:
            return Change([node.leader] if was_forwarded else [], withdraw)
        parent = node.parent
        self._detach(node)
        self._forget(node)
        uncovered: list[str] = []
        for child in list(node.children):
            self._detach(child)
            coverer = self._coverer(
                child, _by_parent(self._coverings.covering(child.analysed)), parent
            )
            if coverer is not None:
                self._insert_below(child, coverer)
            else:
                self._attach(child, parent)
                if parent is None:
                    uncovered.append(child.leader)
        return Change(uncovered, withdraw)

    def _new_node(self, analysed: AnalysedFilter) -> Node:
        self._next += 1
        node = self._by_filter[analysed] = Node(analysed, self._next)
        self._coverings.add(node)
        return node

    def _join(self, node: Node, name: str) -> None:
        node.members[name] = None
        self.nodes[name] = node

    def _insert_below(self, newcomer: Node, start: Node | None) -> list[Node]:
        """Algorithm 1, from `start` down, for a node with all that is below it.

        Returns the roots that it took over. A work list stands for the recursion, because
        nothing bounds how deep filters cover each other.
        """
        displaced: list[Node] = []
        waiting = [(newcomer, start)]
        while waiting:
            node, parent = waiting.pop()
            coverers = _by_parent(self._coverings.covering(node.analysed))
            equal: Node | None = None
            while equal is None and (below := self._coverer(node, coverers, parent)) is not None:
                if self._coverings.covers(node, below):
                    equal = below
                parent = below
            if equal is not None:
                waiting += [(child, equal) for child in self._combine(node, equal)]
                continue
            adopted = self._covered(node, parent) if parent is not None or self.adopts_roots else []
            is_subtree = bool(node.children)
            for child in adopted:
                self._detach(child)
                if is_subtree:
                    waiting.append((child, node))
                else:
                    self._attach(child, node)
            if parent is None:
                displaced += adopted
            self._attach(node, parent)
        return displaced

    def _coverer(
        self, node: Node, coverers: dict[Node | None, list[Node]], parent: Node | None
    ) -> Node | None:
        """The first child of the parent that covers the node."""
        for other in coverers.get(parent, ()):
            if other is not node and self._coverings.covers(other, node):
                return other
        return None

    def _covered(self, node: Node, parent: Node | None) -> list[Node]:
        """The children of the parent that the node covers."""
        return [
            other
            for other in self._coverings.covered(node.analysed)
            if other.parent is parent and other is not node and self._coverings.covers(node, other)
        ]

    def _attach(self, node: Node, parent: Node | None) -> None:
        node.parent = parent
        (self.roots if parent is None else parent.children)[node] = None

    def _detach(self, node: Node) -> None:
        del (self.roots if node.parent is None else node.parent.children)[node]
        node.parent = node

    def _combine(self, node: Node, equal: Node) -> list[Node]:
        """Make the members of a node those of an equal one; returns its children, detached."""
        for name in node.members:
            self._join(equal, name)
        children = list(node.children)
        for child in children:
            self._detach(child)
        self._forget(node)
        return children

    def _forget(self, node: Node) -> None:
        self._coverings.remove(node)
        del self._by_filter[node.analysed]


def _by_parent(nodes: list[Node]) -> dict[Node | None, list[Node]]:
    found: dict[Node | None, list[Node]] = {}
    for node in nodes:
        found.setdefault(node.parent, []).append(node)
    return found
