"""The kernel of counting against the same in plain Python, on arrays that are made by hand."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.matching.counting.forests import jump_code
from boolcast.matching.counting.kernels.counting import (
    Associations,
    Encoded,
    Indexes,
    Output,
    Scratch,
    Trees,
    match_events,
)
from boolcast.matching.values.shapes import Inner

RANKS = 8
LEVELS = 3
PLACES = st.tuples(st.integers(0, 1), st.integers(0, LEVELS - 1))


class World(NamedTuple):
    """Predicates as (attribute, level, nodes), filters as (P_min, tree over predicates)."""

    predicates: list[tuple[int, int, set[int]]]
    filters: list[tuple[int, Inner | int]]
    events: list[tuple[dict[int, int], set[int]]]


@st.composite
def worlds(draw: st.DrawFn) -> World:
    nodes = st.sets(st.integers(0, RANKS - 1))
    predicates = [
        (attribute, level, {node >> level for node in draw(nodes)})
        for attribute, level in draw(st.lists(PLACES, min_size=1, max_size=6))
    ]
    # The last predicate is none of an index: it is given with the event.
    leaf = st.integers(0, len(predicates))
    tree = st.recursive(
        leaf,
        lambda child: st.builds(
            Inner, st.booleans(), st.lists(child, min_size=2, max_size=3).map(tuple)
        ),
        max_leaves=6,
    )
    ranks = st.dictionaries(st.integers(0, 1), st.integers(0, RANKS - 1))
    tested = st.sets(st.just(len(predicates)))
    return World(
        predicates,
        draw(st.lists(st.tuples(st.integers(0, 4), tree), max_size=6)),
        draw(st.lists(st.tuples(ranks, tested), max_size=6)),
    )


def leaves_of(tree: Inner | int) -> list[int]:
    if isinstance(tree, int):
        return [tree]
    return [leaf for child in tree.children for leaf in leaves_of(child)]


def is_true(tree: Inner | int, satisfied: set[int]) -> bool:
    if isinstance(tree, int):
        return tree in satisfied
    return (all if tree.is_and else any)(is_true(child, satisfied) for child in tree.children)


def twin(world: World) -> tuple[list[tuple[int, int]], list[int]]:
    """The matches, and how many events satisfy each predicate."""
    found = []
    counts = [0] * (len(world.predicates) + 1)
    for number, (ranks, tested) in enumerate(world.events):
        satisfied = set(tested)
        for predicate, (attribute, level, nodes) in enumerate(world.predicates):
            if attribute in ranks and ranks[attribute] >> level in nodes:
                satisfied.add(predicate)
        for predicate in satisfied:
            counts[predicate] += 1
        for slot, (minimum, tree) in enumerate(world.filters):
            hits = sum(leaf in satisfied for leaf in leaves_of(tree))
            if hits >= minimum and is_true(tree, satisfied):
                found.append((number, slot))
    return found, counts


def compressed(rows: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Where each row starts, and all rows behind each other."""
    starts = np.cumsum([0, *map(len, rows)], dtype=np.uint64)
    return starts, np.array([value for row in rows for value in row], dtype=np.uint32)


def encode(world: World) -> Encoded:
    starts, attributes = compressed([list(ranks) for ranks, _ in world.events])
    _, ranks = compressed([list(ranks.values()) for ranks, _ in world.events])
    return Encoded(starts, attributes, ranks, *compressed([list(t) for _, t in world.events]))


def index(world: World) -> Indexes:
    at: list[list[int]] = [[] for _ in range(2 * LEVELS * RANKS)]
    for predicate, (attribute, level, nodes) in enumerate(world.predicates):
        for node in nodes:
            at[(attribute * LEVELS + level) * RANKS + node].append(predicate)
    bases = np.arange(2 * LEVELS, dtype=np.uint64).reshape(2, LEVELS) * np.uint64(RANKS)
    return Indexes(np.full(2, 2**LEVELS - 1, dtype=np.uint32), bases, *compressed(at))


def associate(world: World, hits: type) -> Associations:
    rows: list[list[int]] = []
    counts: list[int] = []
    for predicate in range(len(world.predicates) + 1):
        often = [leaves_of(tree).count(predicate) for _, tree in world.filters]
        rows.append([slot for slot, count in enumerate(often) if count])
        counts += [count for count in often if count]
    return Associations(*compressed(rows), np.array(counts, dtype=hits))


def lifted(tree: Inner | int, row: list[int]) -> Inner | int:
    if isinstance(tree, int):
        row.append(tree)
        return len(row) - 1
    return Inner(tree.is_and, tuple([lifted(child, row) for child in tree.children]))


def plant(world: World, hits: type) -> Trees:
    rows: list[list[int]] = [[] for _ in world.filters]
    shapes = [lifted(tree, row) for (_, tree), row in zip(world.filters, rows, strict=True)]
    starts, leaves = compressed(rows)
    return Trees(
        np.array([minimum for minimum, _ in world.filters], dtype=hits),
        np.arange(len(shapes), dtype=np.uint32),
        starts[:-1].astype(np.uint32),
        leaves,
        *jump_code(shapes),
    )


@pytest.mark.parametrize("hits", [np.uint8, np.uint16])
@given(worlds(), st.integers(0, 10))
def test_the_kernel_is_its_twin(hits, world, room):
    slots, predicates = len(world.filters), len(world.predicates) + 1
    matches = np.zeros(predicates, dtype=np.int64)
    scratch = Scratch(
        np.zeros(slots, dtype=hits),
        np.zeros(predicates, dtype=np.bool_),
        np.empty(predicates, dtype=np.uint32),
        np.empty(slots + 1, dtype=np.uint32),
    )
    output = Output(np.empty(slots + room, np.int64), np.empty(slots + room, np.uint32))
    step_one = index(world), associate(world, hits)
    found = []
    done = 0
    while done < len(world.events):
        following, written = match_events(
            done, encode(world), step_one, plant(world, hits), matches, scratch, output
        )
        assert following > done
        assert not scratch.hits.any()
        assert not scratch.bits.any()
        done = following
        pairs = zip(output.events[:written].tolist(), output.slots[:written].tolist(), strict=True)
        found += list(pairs)
    assert (found, matches.tolist()) == twin(world)
