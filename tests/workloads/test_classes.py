"""The shapes of W2, counted by W3: where P3's Table 2 deviates, W3 shows its error (P3-T13)."""

import re

import pytest

from boolcast.filters.expressions import And, Comparison, Filter, Or
from boolcast.filters.parsing import parse
from boolcast.workloads import (
    ADVERTISEMENT_CLASSES,
    BOOK_SCHEMA,
    CLASSES,
    SUBSCRIPTION_CLASSES,
)
from tests.workloads.samples import filters_of
from tests.workloads.trees import dnf, nodes, p_min

COUNTED = """
                            A1 A2 A3 A4 A5 A6 A7 A8 S1 S2 S3
predicates                   5  5  5  5 11  4  4 10  6 12  7
AND operators                3  3  3  3  7  2  2  6  3  7  3
OR operators                 1  1  1  1  3  1  1  3  1  3  3
DNF conjunctions             2  2  2  2  4  2  2  4  2  4  6
predicates per conjunction   3  3  3  3  4  2  2  3  4  5  3
P_min                        3  3  3  3  4  2  2  3  4  5  3
all nodes                    9  9  9  9 21  7  7 19 10 22 13
distinct predicates          5  5  5  5  9  4  4  8  6 10  6
"""
HEADER, *LINES = COUNTED.strip().splitlines()
W3 = {
    name: dict(zip(HEADER.split(), map(int, counts.split()), strict=True))
    for name, counts in (re.split(r"  +", line, maxsplit=1) for line in LINES)
}

# The node numbers that W2 gives.
NODE_NUMBERS = {
    "A1": "6 buyItNow = 1, 7 price > 1000, 8 price > 1750, 9 special = 'signed', 3 category",
    "A2": "6 buyItNow = 1, 7 price > 1000, 8 price > 1750, 9 special = 'signed', 3 author",
    "A3": "6 condition = 'used', 7 price > 1000, 8 price > 1750, 9 condition = 'new', 3 title",
    "A4": "6 format = 'hardcover', 7 price > 2000, 8 price > 1750, 9 format = 'softcover', 3 title",
    "A5": "2 title, 14 condition = 'new', 15 price > 1500, 16 price > 1250, 17 condition = 'used',"
    " 7 format = 'softcover', 18 condition = 'new', 19 price > 2000, 20 price > 1750,"
    " 21 condition = 'used', 9 format = 'hardcover'",
    "A6": "4 condition = 'used', 5 price > 1000, 6 price > 1750, 7 condition = 'new'",
    "A7": "4 format = 'hardcover', 5 price > 2000, 6 price > 1750, 7 format = 'softcover'",
    "A8": "5 format = 'softcover', 6 format = 'hardcover', 12 condition = 'new', 13 price > 1500,"
    " 14 price > 1250, 15 condition = 'used', 16 condition = 'new', 17 price > 2000,"
    " 18 price > 1750, 19 condition = 'used'",
}


def example(name: str) -> Filter:
    """A filter of the class with W2's example prices."""
    (filter,) = filters_of(name, 1, example_prices=True)
    return filter


def counts(tree: Filter) -> dict[str, int]:
    """W3's column for a tree."""
    everything = nodes(tree)
    conjunctions = dnf(tree)
    (length,) = {len(conjunction) for conjunction in conjunctions}
    return {
        "predicates": len(list(tree.predicates())),
        "AND operators": sum(isinstance(node, And) for node in everything),
        "OR operators": sum(isinstance(node, Or) for node in everything),
        "DNF conjunctions": len(conjunctions),
        "predicates per conjunction": length,
        "P_min": p_min(tree),
        "all nodes": len(everything),
        "distinct predicates": len(set(tree.predicates())),
    }


def test_every_class_of_w2_is_there():
    assert {*SUBSCRIPTION_CLASSES, *ADVERTISEMENT_CLASSES} == set(CLASSES) == set(HEADER.split())


@pytest.mark.parametrize("name", CLASSES)
def test_a_shape_has_the_counts_of_w3(name):
    assert counts(example(name)) == {count: columns[name] for count, columns in W3.items()}


@pytest.mark.parametrize("name", NODE_NUMBERS)
def test_leaves_have_the_node_numbers_of_w2(name):
    leaves = {
        number: str(node)
        for number, node in enumerate(nodes(example(name)), 1)
        if isinstance(node, Comparison)
    }
    for entry in NODE_NUMBERS[name].split(","):
        number, text = entry.split(maxsplit=1)
        assert leaves.pop(int(number)).startswith(text)
    assert not leaves


@pytest.mark.parametrize("name", SUBSCRIPTION_CLASSES)
def test_subscriptions_have_the_shapes_of_w2(name):
    shapes = {
        "S1": "title = T and ending < 24 and"
        " (condition = 'new' and price < 2000 or price < 1500 and condition = 'used')",
        "S2": "title = T and ending < 24 and"
        " ((condition = 'new' and price < 1500 or price < 1000 and condition = 'used')"
        " and format = 'softcover' or format = 'hardcover' and"
        " (condition = 'new' and price < 2500 or price < 2000 and condition = 'used'))",
        "S3": "(author = T or category = T) and (special = 'signed' and buyItNow = 1"
        " or ending < 24 and (special = 'signed' or bids = 0))",
    }
    text = re.sub(r"'(title|author|category) \d+'", "T", str(example(name)))
    assert text == shapes[name]


@pytest.mark.parametrize("name", CLASSES)
def test_a_filter_fits_the_schema(name):
    assert parse(str(example(name)), schema=BOOK_SCHEMA) == example(name)


@pytest.mark.parametrize(("name", "filter_class"), CLASSES.items())
def test_every_slot_has_a_law_and_every_law_a_slot(name, filter_class):
    slots = filter_class.pieces()[1::2]
    assert len(set(slots)) == len(slots)
    assert filter_class.prices.keys() == {*slots} - {"title", "author", "category", "ending"}
