"""Explanations agree with the evaluator, and what they call deciding decides."""

from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.filters.evaluation import Explanation, explain
from boolcast.filters.expressions import And, Constant, Filter, Not, Or, Predicate
from boolcast.filters.parsing import parse
from boolcast.model.values import Opaque, Timestamp
from tests.filters.oracle import evaluate
from tests.strategies import events, filters

OUTCOMES = {True: "true", False: "false", None: "unknown"}


def pairs(node: Filter, explanation: Explanation) -> Iterator[tuple[Filter, Explanation]]:
    """Every node with its explanation."""
    yield node, explanation
    children: tuple[Filter, ...] = (
        node.children
        if isinstance(node, And | Or)
        else (node.child,)
        if isinstance(node, Not)
        else ()
    )
    for child, part in zip(children, explanation.children, strict=True):
        yield from pairs(child, part)


@given(filters(max_leaves=10, small=True), events(small=True))
def test_explanations_agree_with_the_evaluator(filter, event):
    explanation = explain(filter, event)
    assert explanation.accepted is filter.accepts(event)
    assert explanation.decides
    for node, part in pairs(filter, explanation):
        assert part.text == str(node)
        assert part.outcome == OUTCOMES[evaluate(node, event)]


def with_indifferent_leaves_replaced(node: Filter, explanation: Explanation, draw) -> Filter:
    match node:
        case And(children) | Or(children):
            return type(node)(
                tuple(
                    with_indifferent_leaves_replaced(child, part, draw)
                    for child, part in zip(children, explanation.children, strict=True)
                )
            )
        case Not(child):
            return Not(with_indifferent_leaves_replaced(child, explanation.children[0], draw))
        case _:
            return node if explanation.decides else Constant(draw(st.booleans()))


@given(filters(max_leaves=10, small=True), events(small=True), st.data())
def test_only_deciding_predicates_matter(filter, event, data):
    other = with_indifferent_leaves_replaced(filter, explain(filter, event), data.draw)
    assert other.accepts(event) is filter.accepts(event)


def with_deciding_leaves_turned(node: Filter, explanation: Explanation, wanted: bool) -> Filter:
    """The tree with each deciding leaf replaced by what would have served the other outcome."""
    match node:
        case And(children) | Or(children):
            return type(node)(
                tuple(
                    with_deciding_leaves_turned(child, part, wanted)
                    for child, part in zip(children, explanation.children, strict=True)
                )
            )
        case Not(child):
            part = explanation.children[0]
            return Not(with_deciding_leaves_turned(child, part, not wanted))
        case _:
            return Constant(wanted) if explanation.decides else node


@given(filters(max_leaves=10, small=True), events(small=True))
def test_deciding_predicates_decide(filter, event):
    accepted = filter.accepts(event)
    turned = with_deciding_leaves_turned(filter, explain(filter, event), not accepted)
    assert turned.accepts(event) is not accepted


def polarities(node: Filter, is_positive: bool = True) -> Iterator[tuple[Filter, bool]]:
    """Every node, and whether an even number of NOTs stands above it."""
    yield node, is_positive
    match node:
        case And(children) | Or(children):
            for child in children:
                yield from polarities(child, is_positive)
        case Not(child):
            yield from polarities(child, not is_positive)


@given(filters(max_leaves=10, small=True), events(small=True))
def test_what_decides_is_for_the_outcome(filter, event):
    explanation = explain(filter, event)
    for (node, part), (_, is_positive) in zip(
        pairs(filter, explanation), polarities(filter), strict=True
    ):
        if part.decides:
            is_met = evaluate(node, event) is is_positive
            assert is_met is explanation.accepted


@given(filters(max_leaves=10, small=True), events(small=True))
def test_deciding_lists_the_leaves_that_decide(filter, event):
    explanation = explain(filter, event)
    leaves = [
        part
        for node, part in pairs(filter, explanation)
        if isinstance(node, Predicate | Constant) and part.decides
    ]
    assert explanation.deciding() == leaves
    assert leaves
    assert str(explanation).count("← decides") == len(leaves)


def test_as_a_tree():
    filter = parse(
        "title = 'Harry Potter' and (price < 15 or not condition = 'new') and item.bids > bids"
    )
    event = {"title": "Harry Potter", "price": 21.5, "condition": "new", "bids": [1]}
    assert str(explain(filter, event)) == (
        "refused\n"
        "✗ and\n"
        "├─ ✓ title = 'Harry Potter': title is 'Harry Potter'\n"
        "├─ ✗ or\n"
        "│  ├─ ✗ price < 15: price is 21.5  ← decides\n"
        "│  └─ ✗ not\n"
        "│     └─ ✓ condition = 'new': condition is 'new'  ← decides\n"
        "└─ ? item.bids > bids: item.bids is missing; bids is <list>  ← decides"
    )


@pytest.mark.parametrize(
    ("text", "event", "values", "note"),
    [
        ("a < 5", {"a": 4}, {"a": 4}, "a is 4"),
        ("a < 5", {"a": "x"}, {"a": "x"}, "a is 'x', a string"),
        ("a = '1'", {"a": 1}, {"a": 1}, "a is 1, a number"),
        ("not a in (1, 2)", {"a": "1"}, {"a": "1"}, "a is '1', a string"),
        ("a between 1 and 2", {"a": True}, {"a": True}, "a is true, a boolean"),
        ("contains(a, 'x')", {"a": 5}, {"a": 5}, "a is 5, a number"),
        (
            "a = '2026-01-31'",
            {"a": Timestamp.parse("2026-01-31")},
            {"a": Timestamp.parse("2026-01-31")},
            "a is timestamp '2026-01-31T00:00:00Z', a timestamp",
        ),
        ("a < 5", {"a": [1]}, {"a": Opaque("list")}, "a is <list>, which never compares"),
        ("a is null", {"a": [1]}, {"a": Opaque("list")}, "a is <list>"),
        ("a < 5", {}, {"a": None}, "a is missing"),
        ("a < b", {"a": 1, "b": 2}, {"a": 1, "b": 2}, "a is 1; b is 2"),
        (
            "a < b",
            {"a": True, "b": 2},
            {"a": True, "b": 2},
            "a is true, a boolean; b is 2, a number",
        ),
        ("a < b", {"a": "x"}, {"a": "x", "b": None}, "a is 'x'; b is missing"),
        ('"a b" is null', {"a b": "it's"}, {"a b": "it's"}, "\"a b\" is 'it''s'"),
        ("true", {}, {}, None),
    ],
)
def test_a_leaf_shows_the_actual_values(text, event, values, note):
    explanation = explain(parse(text), event)
    leaf = explanation.children[0] if explanation.children else explanation
    assert leaf.values == values
    assert leaf.note == note


@given(filters(max_leaves=6), events())
def test_each_line_of_the_tree_is_printable(filter, event):
    explanation = explain(filter, event)
    lines = str(explanation).split("\n")
    assert len(lines) == 1 + sum(1 for _ in pairs(filter, explanation))
    assert all(line.isprintable() for line in lines)


def test_what_is_not_printable_is_escaped():
    explanation = explain(parse("title = 'a\nb'"), {"title": "\x1b[31mred\n\u202e 日本語"})
    assert str(explanation) == (
        "refused\n"
        r"✗ title = 'a\nb': title is '\x1b[31mred\n\u202e 日本語'"
        "  ← decides"
    )
    assert explanation.values == {"title": "\x1b[31mred\n\u202e 日本語"}


@pytest.mark.parametrize(
    ("text", "event", "suggestions", "note"),
    [
        ("ending < 24", {"endding": 5}, {"ending": "endding"}, "did you mean `endding`?"),
        ("Price < 24", {"PRICE": 5}, {"Price": "PRICE"}, "did you mean `PRICE`?"),
        ("auther is null", {"author": "Ada"}, {"auther": "author"}, "did you mean `author`?"),
        ("titel = 'x'", {"my title": 1, "title": 2}, {"titel": "title"}, "did you mean `title`?"),
        ('"my titel" = 1', {"my title": 1}, {"my titel": "my title"}, 'did you mean `"my title"`?'),
        ("item.prise < 5", {"item": {"price": 1}}, {"item.prise": "item.price"}, "`item.price`?"),
    ],
)
def test_a_missing_attribute_with_a_similar_name_in_the_event_is_pointed_out(
    text, event, suggestions, note
):
    explanation = explain(text, event)
    assert explanation.suggestions == suggestions
    assert explanation.note is not None
    assert explanation.note.endswith(note)
    assert " is missing; did you mean `" in explanation.note
    assert explanation.note in str(explanation)
    assert msgspec.json.decode(msgspec.json.encode(explanation))["suggestions"] == suggestions


@pytest.mark.parametrize(
    ("text", "event"),
    [
        ("ending < 24", {"ending": 5, "endding": 5}),
        ("ending < 24", {"title": "Emma"}),
        ("signed = true", {"single": 1}),
        # The filter asks for the other one too, so it is not a misspelling of this one.
        ("ending < 24 and endding = 5", {"endding": 5}),
        ("ending < 24", {}),
        ("ending < 24", {f"ending{number}": 1 for number in range(300)}),
    ],
)
def test_there_is_no_suggestion_without_a_reason(text, event):
    for leaf in explain(text, event).deciding():
        assert leaf.suggestions == {}
        assert "did you mean" not in (leaf.note or "")
