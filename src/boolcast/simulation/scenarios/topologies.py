"""Networks of brokers by name: line, star, tree, random trees, and the two of P4."""

from pathlib import Path
from random import Random
from typing import Final

import msgspec

from boolcast.errors import FileError, TopologyError
from boolcast.model.identifiers import BrokerId
from boolcast.routing.protocol.topology import SpanningTree, Topology, spanning_tree


def line(size: int) -> Topology:
    """Each broker linked to the next."""
    return _from_parents([max(number - 1, 0) for number in range(1, size)])


def star(size: int) -> Topology:
    """All brokers linked to the first."""
    return _from_parents([0] * (size - 1))


def tree(fanout: int, depth: int) -> Topology:
    """A broker with `fanout` below it, each with as many, `depth` levels below the first."""
    size = sum(fanout**level for level in range(depth + 1))
    return _from_parents([(number - 1) // fanout for number in range(1, size)])


def random_tree(size: int, chance: Random) -> Topology:
    """Each broker linked to one of those before it, all of them equally likely."""
    return _from_parents([chance.randrange(number) for number in range(1, size)])


def paper_49() -> Topology:
    """P4-X1: a core chain A to E, 12 inner brokers and 32 edges.

    The edges `E1.1`, `E1.2` and `E1.3` are those of the publishers.
    """
    links = [(f"{left}", f"{right}") for left, right in zip("ABCD", "BCDE", strict=True)]
    inner = [
        f"{core}{number}"
        for core, count in zip("ABCDE", (3, 2, 2, 2, 3), strict=True)
        for number in range(1, count + 1)
    ]
    links += [(name[0], name) for name in inner]
    # Eight inner brokers have three edges, four have two; those of the publishers have three.
    small = {"A3", "B2", "C2", "D2"}
    for name in inner:
        links += [(name, f"{name}.{number}") for number in range(1, 3 if name in small else 4)]
    return _from_links(links)


PUBLISHER_EDGES: Final = tuple(BrokerId(f"E1.{number}") for number in (1, 2, 3))
"""Where the publishers of `paper_49` are."""


def tiered() -> Topology:
    """P4-X1's tiered network for mobile clients: a core, and four regions of 1 + 3 + 9 brokers."""
    links = [("core", region) for region in "NESW"]
    for region in "NESW":
        for middle in range(1, 4):
            links.append((region, f"{region}{middle}"))
            links += [(f"{region}{middle}", f"{region}{middle}.{edge}") for edge in range(1, 4)]
    return _from_links(links)


def edges(topology: Topology) -> list[BrokerId]:
    """The brokers with one neighbour only."""
    return [broker for broker, others in topology.neighbours().items() if len(others) <= 1]


def by_name(name: str, chance: Random) -> SpanningTree:
    """`line:5`, `star:8`, `tree:3x2`, `random:12`, `random`, `paper`, `tiered`, or a JSON file.

    A file may have cycles; what closes one is left out. Raises TopologyError or FileError.
    """
    if name.endswith(".json"):
        return read(Path(name))
    return SpanningTree(_tree_by_name(name, chance), ())


def _tree_by_name(name: str, chance: Random) -> Topology:
    kind, _, size = name.partition(":")
    try:
        match kind:
            case "line":
                return line(_size(size))
            case "star":
                return star(_size(size))
            case "tree":
                fanout, _, depth = size.partition("x")
                return _tree_within_limits(_size(fanout), _size(depth))
            case "random":
                return random_tree(_size(size) if size else chance.randint(2, 7), chance)
            case "paper" if not size:
                return paper_49()
            case "tiered" if not size:
                return tiered()
    except ValueError:
        raise TopologyError(
            f"{name!r} has no size: write line:5, star:8, tree:3x2 or random:12"
        ) from None
    raise TopologyError(
        f"there is no topology {name!r}: take line:5, star:8, tree:3x2, random:12, random,"
        " paper, tiered, or a file that ends in .json"
    )


def read(path: Path) -> SpanningTree:
    """The tree of a file `{"brokers": ["A", "B"], "links": [["A", "B"]]}`."""
    try:
        topology = msgspec.json.decode(path.read_bytes(), type=Topology)
    except OSError as error:
        raise FileError(f"cannot read: {error.strerror}", path=str(path)) from None
    except msgspec.DecodeError as error:
        raise FileError(f"no topology: {error}", path=str(path)) from None
    return spanning_tree(topology)


_MOST: Final = 10_000


def _size(text: str) -> int:
    size = int(text)
    if not 1 <= size <= _MOST:
        raise TopologyError(f"a network has 1 to {_MOST:,} brokers, not {size}")
    return size


def _tree_within_limits(fanout: int, depth: int) -> Topology:
    level = size = 1
    for _ in range(depth):
        level *= fanout
        size += level
        if size > _MOST:
            raise TopologyError(f"a network has 1 to {_MOST:,} brokers, and this tree more")
    return tree(fanout, depth)


def _from_parents(parents: list[int]) -> Topology:
    names = [BrokerId(f"B{number}") for number in range(len(parents) + 1)]
    links = tuple((names[parent], names[number + 1]) for number, parent in enumerate(parents))
    return Topology(tuple(names), links)


def _from_links(links: list[tuple[str, str]]) -> Topology:
    names = dict.fromkeys(BrokerId(name) for link in links for name in link)
    return Topology(tuple(names), tuple((BrokerId(left), BrokerId(right)) for left, right in links))
