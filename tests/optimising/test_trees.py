"""Valid prunings and what they cost; law 4 for each of them."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from boolcast.algebra import covers, equivalent
from boolcast.filters.expressions import And, Filter, Or
from boolcast.filters.parsing import parse
from boolcast.model.values import Value
from boolcast.optimising.pruning.trees import Tree, best_pruning, floor, prepared, pruned, prunings
from boolcast.optimising.statistics.estimates import SHARE_RULES, Estimate
from boolcast.optimising.statistics.selectivities import Selectivities
from boolcast.workloads.classes import CLASSES
from tests.optimising.pruning_histories import S1, S1_SHARES, exhausted, known, shares_for, tree
from tests.strategies import events, filters
from tests.workloads.trees import nodes


def costs(text: str, shares: dict[str, float]) -> list[tuple[str, float]]:
    """What each pruning leaves, with its degradation, the best first."""
    root = tree(text, known(shares))
    return [(str(pruned(root, each).node), each.degradation) for each in sorted(prunings(root))]


def test_the_worked_example_of_a_flat_and():
    """P1-T4."""
    found = costs("a = 1 and b = 1 and c = 1", {"a = 1": 0.9, "b = 1": 0.8, "c = 1": 0.95})
    assert [text for text, _ in found] == [
        "a = 1 and b = 1",
        "b = 1 and c = 1",
        "a = 1 and c = 1",
    ]
    assert [cost for _, cost in found] == pytest.approx([0.05, 0.1, 0.2])


def test_the_worked_example_of_class_1():
    """P1-T5: p4 < p6 < p5 < p3 < the whole OR < p2 < p1."""
    found = costs(S1, S1_SHARES)
    assert [cost for _, cost in found] == pytest.approx(
        [0.000012, 0.000161, 0.000276, 0.000444, 0.000505, 0.005497, 0.13], abs=1e-6
    )
    assert found[0][0] == S1.replace("condition = 'new' and price < 25", "condition = 'new'")
    assert found[4][0] == "title = 'Harry Potter' and ending < 24"
    assert found[6][0] == S1.removeprefix("title = 'Harry Potter' and ")


# W5: shares of events in the auction, with as many titles as make an equality rare.
AUCTION = {
    "condition = 'new'": 0.2,
    "condition = 'used'": 0.8,
    "format = 'softcover'": 0.6,
    "format = 'hardcover'": 0.4,
    "ending < 24": 1 / 7,
    "special = 'signed'": 0.02,
    "bids = 0": 0.97,
    "buyItNow = 1": 0.2,
    "title = 'Emma'": 0.00002,
    "author = 'Austen'": 0.0005,
    "category = 'novels'": 0.004,
    **{
        f"price < {cents}": share
        for cents, share in zip((500, 1000, 1500, 2000), (0.4, 0.74, 0.87, 0.93), strict=True)
    },
}
CONSTANTS: dict[str, Value] = {
    "title": "Emma",
    "author": "Austen",
    "category": "novels",
    "ending": 24,
    "new": 2000,
    "used": 1500,
    "new_softcover": 1500,
    "used_softcover": 500,
    "new_hardcover": 2000,
    "used_hardcover": 1000,
}


@pytest.mark.parametrize(
    ("name", "operations", "predicates", "remains"),
    [
        ("S1", 4, 5, "title = 'Emma'"),
        ("S2", 8, 11, "title = 'Emma'"),
        ("S3", 3, 5, "author = 'Austen' or category = 'novels'"),
    ],
)
def test_how_far_the_classes_can_be_pruned(name, operations, predicates, remains):
    """P1-T8, W4."""
    trees = exhausted(Tree.of(prepared(CLASSES[name].fill(CONSTANTS)), known(AUCTION)))
    assert len(trees) - 1 == operations
    assert trees[0].predicates - trees[-1].predicates == predicates
    assert str(trees[-1].node) == remains


@pytest.mark.parametrize(
    ("text", "remaining"),
    [
        ("a = 1", []),
        ("a = 1 or b = 1", []),
        ("true", []),
        ("false", []),
        ("true and a = 1", []),
        ("not (a = 1 and b = 1)", []),
        ("not (a = 1 or b = 1)", ["a != 1", "b != 1"]),
        ("a = 1 and (a = 1 or false)", []),
        # An OR that is left alone in an OR joins it.
        ("a = 1 or b = 1 and (c = 1 or d = 1)", ["a = 1 or b = 1", "a = 1 or c = 1 or d = 1"]),
        # Equal siblings become one.
        ("a = 1 and b = 1 or a = 1", ["a = 1", "b = 1 or a = 1"]),
    ],
)
def test_what_can_be_pruned(text, remaining):
    root = tree(text, known({}))
    assert sorted(str(pruned(root, each).node) for each in prunings(root)) == sorted(remaining)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        # Fewer predicates first, then the one further left.
        ("a = 1 and (b = 1 or c = 1)", "b = 1 or c = 1"),
        ("a = 1 and b = 1 and c = 1", "b = 1 and c = 1"),
        ("(a = 1 or b = 1) and (c = 1 or d = 1)", "c = 1 or d = 1"),
        # Inner before outer.
        (
            "(a = 1 and b = 1 or c = 1) and (d = 1 or z = 1)",
            "(b = 1 or c = 1) and (d = 1 or z = 1)",
        ),
    ],
)
def test_ties_go_to_fewer_predicates_and_then_to_the_left(text, left):
    # Every pruning is free.
    always = {f"{name} = 1": 1.0 for name in "abcdz"}
    root = tree(text, known(always))
    best = best_pruning(root)
    assert best is not None
    assert str(pruned(root, best).node) == left


@pytest.mark.parametrize(
    ("text", "least"),
    [
        (S1, 1),
        ("(a = 1 or b = 1) and (c = 1 or d = 1 or e = 1)", 2),
        ("a = 1 and b = 1 or c = 1", 2),
        # Both alternatives may become the same.
        ("a = 1 and b = 1 or a = 1 and c = 1", 1),
        ("a = 1 and b = 1 or b = 1 and c = 1 or c = 1 and d = 1", 1),
        # Each keeps something that the other has, but one keeps two.
        ("(a = 1 or b = 1) and (a = 1 or c = 1) or a = 1 and d = 1", 2),
        # The third alternative shares a predicate with each of the first two, which share none.
        ("(a = 1 or b = 1) and z = 1 and a = 1 or c = 1 and d = 1 or a = 1 and c = 1", 1),
        ("a = 1 and b = 1 or c = 1 and d = 1", 2),
        ("true", 0),
    ],
)
def test_how_few_predicates_pruning_can_leave(text, least):
    assert floor(tree(text, known({}))) == least


@st.composite
def trees(draw: st.DrawFn, *, small: bool = False) -> tuple[Filter, Tree, Selectivities]:
    filter = draw(filters(small=small, max_leaves=8))
    selectivities = draw(shares_for([filter]))
    return filter, Tree.of(prepared(filter), selectivities), selectivities


@given(trees(small=True))
def test_every_pruning_covers_the_original_by_the_algebra(drawn):
    """P1-T9, law 4."""
    filter, root, _ = drawn
    for each in prunings(root):
        verdict = covers(pruned(root, each).node, filter)
        assume(not verdict.exhausted)
        assert verdict.holds


@given(trees(small=True), st.lists(events(small=True), min_size=1, max_size=8), st.data())
def test_every_sequence_of_prunings_accepts_what_the_original_did(drawn, seen, data):
    """P1-T9, law 4: by the evaluator, and the estimates follow."""
    filter, root, _ = drawn
    while options := list(prunings(root)):
        chosen = data.draw(st.sampled_from(options))
        shorter = pruned(root, chosen)
        assert shorter.predicates <= root.predicates - chosen.removed
        assert chosen.degradation >= 0
        root = shorter
        assert root.predicates > 0
        for event in seen:
            assert root.node.accepts(event) or not filter.accepts(event)
    assert not any(isinstance(node, And) for node in nodes(root.node))


@given(trees(small=True))
def test_a_prepared_filter_means_the_same(drawn):
    filter, root, _ = drawn
    verdict = equivalent(root.node, filter)
    assert verdict.holds or verdict.exhausted or verdict.witness is None


@given(trees())
def test_the_degradation_is_that_of_the_estimates(drawn):
    _, root, selectivities = drawn
    for each in prunings(root):
        plain = _removed(root.node, each.path)
        estimate = estimated(plain, selectivities)
        assert each.estimate == pytest.approx(estimate, abs=1e-9)
        assert each.degradation == pytest.approx(root.estimate.degradation_to(estimate), abs=1e-9)


@given(trees(small=True))
def test_the_floor_is_never_undercut(drawn):
    _, root, _ = drawn
    assume(root.predicates <= 6)
    waiting = [root]
    while waiting:
        each = waiting.pop()
        assert each.predicates >= floor(root)
        waiting += [pruned(each, pruning) for pruning in prunings(each)]


def estimated(node: Filter, selectivities: Selectivities) -> Estimate:
    """The estimate of a tree as it is, repeated subtrees included."""
    match node:
        case And(children):
            return SHARE_RULES.joined(True, [estimated(child, selectivities) for child in children])
        case Or(children):
            return SHARE_RULES.joined(
                False, [estimated(child, selectivities) for child in children]
            )
    return Tree.of(node, selectivities).estimate


def _removed(node, path):
    """A plain reading of P1-B4: repeated siblings stay."""
    first, *rest = path
    children = list(node.children)
    if rest:
        children[first] = _removed(children[first], rest)
    else:
        del children[first]
    return children[0] if len(children) == 1 else type(node)(tuple(children))


def test_a_child_of_an_or_is_never_removed():
    """P1-B4, Z1: that would lose events."""
    root = tree("a = 1 or b = 1 and c = 1", known({}))
    best = best_pruning(root)
    assert best is not None
    with pytest.raises(AssertionError, match="lose events"):
        pruned(root, best._replace(path=(0,)))
    assert isinstance(parse("a = 1 or b = 1"), Or)
