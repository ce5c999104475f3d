"""Networks by name."""

from collections import Counter

import pytest

from boolcast.errors import FileError, TopologyError
from boolcast.model.identifiers import BrokerId
from boolcast.routing.protocol.topology import spanning_tree
from boolcast.simulation.chance import stream
from boolcast.simulation.scenarios import topologies


def degrees(name: str) -> list[int]:
    topology = topologies.by_name(name, stream(1, "topology")).topology
    assert spanning_tree(topology).topology == topology, "a tree"
    return sorted(len(others) for others in topology.neighbours().values())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("line:4", [1, 1, 2, 2]),
        ("line:1", [0]),
        ("star:5", [1, 1, 1, 1, 4]),
        ("tree:2x2", [1, 1, 1, 1, 2, 3, 3]),
    ],
)
def test_small_ones(name, expected):
    assert degrees(name) == expected


def test_the_49_brokers_of_the_paper():
    topology = topologies.paper_49()
    assert len(topology.brokers) == 49
    edges = topologies.edges(topology)
    assert len(edges) == 32
    neighbours = topology.neighbours()
    inner = [each for each in topology.brokers if len(each) == 2]
    assert Counter(each[0] for each in inner) == {"A": 3, "B": 2, "C": 2, "D": 2, "E": 3}
    assert sorted(len(neighbours[each]) - 1 for each in inner) == [2] * 4 + [3] * 8
    assert {neighbours[each] for each in topologies.PUBLISHER_EDGES} == {("E1",)}
    assert len(neighbours[BrokerId("E1")]) == 4


def test_the_tiered_network_of_the_paper():
    assert Counter(degrees("tiered")) == {1: 36, 4: 17}


def test_a_random_tree_depends_on_the_seed():
    drawn = {
        topologies.by_name("random:9", stream(seed, "topology")).topology.links
        for seed in range(20)
    }
    assert len(drawn) > 15
    assert len(degrees("random:9")) == 9


def test_a_file_with_a_cycle_is_read_as_a_tree(tmp_path):
    path = tmp_path / "network.json"
    path.write_text('{"brokers": ["A", "B", "C"], "links": [["A", "B"], ["B", "C"], ["C", "A"]]}')
    assert degrees(str(path)) == [1, 1, 2]
    assert topologies.by_name(str(path), stream(1, "topology")).left_out == (("B", "C"),)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("ring:5", "there is no topology"),
        ("line", "has no size"),
        ("line:x", "has no size"),
        ("tree:3", "has no size"),
        ("star:0", "1 to 10,000 brokers"),
        ("line:99999", "1 to 10,000 brokers"),
        ("tree:2x30", "1 to 10,000 brokers"),
        ("tree:1x10000", "1 to 10,000 brokers"),
        ("tree:9999x9999", "1 to 10,000 brokers"),
    ],
)
def test_what_is_no_topology(name, problem):
    with pytest.raises(TopologyError, match=problem):
        topologies.by_name(name, stream(1, "topology"))


@pytest.mark.parametrize(
    "text",
    [None, "[]", '{"brokers": []', '{"brokers": [], "edges": []}'],
)
def test_a_file_that_cannot_be_read(tmp_path, text):
    path = tmp_path / "network.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(FileError, match="cannot read" if text is None else "no topology"):
        topologies.read(path)
