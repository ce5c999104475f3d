"""Which brokers are linked; and the tree that is left when links that close a cycle go (F1)."""

import msgspec

from boolcast.errors import TopologyError
from boolcast.model.identifiers import BrokerId


class Topology(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Brokers, and links between two of them each.

    Raises TopologyError where there is no broker, and for a link to itself, to an unknown broker,
    or given twice.
    """

    brokers: tuple[BrokerId, ...]
    links: tuple[tuple[BrokerId, BrokerId], ...]

    def __post_init__(self) -> None:
        known = set(self.brokers)
        if not known:
            raise TopologyError("a network has at least one broker")
        if len(known) < len(self.brokers):
            raise TopologyError("a broker is named twice")
        seen: set[frozenset[BrokerId]] = set()
        for left, right in self.links:
            if left not in known or right not in known:
                missing = left if left not in known else right
                raise TopologyError(
                    f"the link {left}-{right} leads to {missing}, which is no broker"
                )
            if left == right:
                raise TopologyError(f"the link {left}-{right} leads back to its own broker")
            if frozenset((left, right)) in seen:
                raise TopologyError(f"the link {left}-{right} is given twice")
            seen.add(frozenset((left, right)))

    def neighbours(self) -> dict[BrokerId, tuple[BrokerId, ...]]:
        """The neighbours of each broker, in the order of the links."""
        found: dict[BrokerId, list[BrokerId]] = {broker: [] for broker in self.brokers}
        for left, right in self.links:
            found[left].append(right)
            found[right].append(left)
        return {broker: tuple(names) for broker, names in found.items()}


class SpanningTree(msgspec.Struct, frozen=True):
    """A topology without cycles, and the links that it was given and does without."""

    topology: Topology
    left_out: tuple[tuple[BrokerId, BrokerId], ...]


def spanning_tree(topology: Topology) -> SpanningTree:
    """The tree of breadth-first search from the first broker; its paths are short.

    A topology without cycles keeps all its links. Raises TopologyError if it is not connected.
    """
    neighbours = topology.neighbours()
    reached = set(topology.brokers[:1])
    kept: set[frozenset[BrokerId]] = set()
    waiting = list(topology.brokers[:1])
    for broker in waiting:
        for neighbour in neighbours[broker]:
            if neighbour not in reached:
                reached.add(neighbour)
                waiting.append(neighbour)
                kept.add(frozenset((broker, neighbour)))
    for broker in topology.brokers:
        if broker not in reached:
            raise TopologyError(f"there is no path from {topology.brokers[0]} to {broker}")
    links = tuple(link for link in topology.links if frozenset(link) in kept)
    left_out = tuple(link for link in topology.links if frozenset(link) not in kept)
    return SpanningTree(Topology(topology.brokers, links), left_out)
