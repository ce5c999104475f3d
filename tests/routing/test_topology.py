"""Topologies, and the tree that is left of one with cycles."""

import pytest

from boolcast.errors import TopologyError
from boolcast.model.identifiers import BrokerId
from boolcast.routing.protocol.topology import Topology, spanning_tree


def topology(brokers: str, *links: str) -> Topology:
    return Topology(
        tuple(BrokerId(name) for name in brokers),
        tuple((BrokerId(link[0]), BrokerId(link[1])) for link in links),
    )


def test_links_that_close_a_cycle_are_left_out_and_named():
    given = topology("ABCDE", "AB", "BC", "CD", "DA", "AC", "DE")
    tree = spanning_tree(given)
    assert tree.topology == topology("ABCDE", "AB", "DA", "AC", "DE")
    assert tree.left_out == (("B", "C"), ("C", "D"))


def test_a_tree_keeps_all_its_links():
    given = topology("ABCD", "CD", "AB", "CA")
    assert spanning_tree(given).topology == given
    assert spanning_tree(given).left_out == ()
    assert given.neighbours()[BrokerId("A")] == ("B", "C")


@pytest.mark.parametrize(
    ("brokers", "links", "problem"),
    [
        ("AB", ["AC"], "leads to C"),
        ("AB", ["AA"], "back to its own"),
        ("AB", ["AB", "BA"], "given twice"),
        ("AA", [], "named twice"),
        ("", [], "at least one broker"),
        ("ABC", ["AB"], "no path from A to C"),
    ],
)
def test_what_makes_no_network_is_refused(brokers, links, problem):
    with pytest.raises(TopologyError, match=problem):
        spanning_tree(topology(brokers, *links))
