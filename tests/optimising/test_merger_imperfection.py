"""How imperfect a merger is: P2-B11 by counting, with and without advertisements."""

from itertools import product
from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.algebra import ordered_sets as ordered
from boolcast.algebra.value_sets import meaning
from boolcast.filters.expressions import And, Comparison, Filter, conjunction, disjunction
from boolcast.filters.parsing import parse
from boolcast.model.schemas import Attribute, Schema
from boolcast.model.statistics import AttributeStatistics, Statistics, ValueBin
from boolcast.model.values import Kind
from boolcast.optimising.merging.merger_imperfection import (
    Advertised,
    AllEvents,
    Imperfection,
    imperfection_of,
)
from boolcast.optimising.statistics.probabilities import Listed, Measured, Range, Uniform
from boolcast.optimising.statistics.selectivities import Selectivities
from tests.optimising.pruning_histories import known, read

PRICES = Uniform({"price": Range(0, 200)})


def imperfection(
    merger: str, constituents: list[str], advertisements: list[str] | None = None
) -> Imperfection:
    audience = (
        AllEvents(PRICES)
        if advertisements is None
        else Advertised(PRICES, map(parse, advertisements))
    )
    return imperfection_of(parse(merger), map(parse, constituents), audience)


def test_an_imperfect_merger():
    """P2-T7: 146, 149 and 150 of 56."""
    constituents = ["price > 150", "price = 145", "price = 147", "price = 148"]
    assert imperfection("price >= 145", constituents) == (3 / 201 / (56 / 201), 3 / 201)
    assert imperfection("price >= 145", constituents).degree == pytest.approx(3 / 56)


def test_an_advertisement_makes_a_merger_perfect():
    """P2-T8: 29 of 81 values are false positives, and none is advertised."""
    constituents = ["price > 150", "price = 130", "price = 120"]
    found = imperfection("price >= 120", constituents)
    assert found.degree == pytest.approx(29 / 81)
    assert found.share == 29 / 201
    assert imperfection("price >= 120", constituents, ["price > 150"]) == (0.0, 0.0)


def test_where_nothing_is_advertised_nothing_is_false():
    """P2-B11: D' is 0 if its denominator is."""
    assert imperfection("price >= 120", ["price > 150"], []) == (0.0, 0.0)
    assert imperfection("price >= 120", ["price > 150"], ["price < 10"]) == (0.0, 0.0)


def test_a_perfect_merger_has_no_imperfection():
    """P2-T2."""
    parts = ["price = 150 and t = 'x'", "price < 150 and t = 'x'"]
    assert imperfection("price <= 150 and t = 'x'", parts) == (0.0, 0.0)


NAMES = ("a", "b", "c")
SIDE = 4
UNIFORM = Uniform({name: Range(0, SIDE - 1) for name in NAMES})
EVENTS = [dict(zip(NAMES, each, strict=True)) for each in product(range(SIDE), repeat=3)]
LEAVES = st.builds(
    Comparison,
    st.sampled_from(NAMES),
    st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
    st.integers(0, SIDE - 1),
)
CONJUNCTIONS = st.lists(LEAVES, min_size=1, max_size=3).map(conjunction)
ADVERTISEMENTS = st.one_of(
    CONJUNCTIONS, st.lists(CONJUNCTIONS, min_size=2, max_size=3).map(disjunction)
)


@given(
    CONJUNCTIONS,
    st.lists(CONJUNCTIONS, min_size=1, max_size=4),
    st.none() | st.lists(ADVERTISEMENTS, max_size=4),
)
def test_imperfection_is_what_counting_says(
    merger: Filter, others: list[Filter], advertisements: list[Filter] | None
):
    """Definitions 1 and 2, over all possible events."""
    counting = EVENTS
    audience: AllEvents | Advertised = AllEvents(UNIFORM)
    if advertisements is not None:
        counting = [e for e in EVENTS if any(each.accepts(e) for each in advertisements)]
        audience = Advertised(UNIFORM, advertisements)
    constituents = [And((merger, each)) for each in others]
    passing = [event for event in counting if merger.accepts(event)]
    false = [e for e in passing if not any(each.accepts(e) for each in constituents)]
    found = imperfection_of(merger, constituents, audience)
    assert isclose(found.share, len(false) / len(EVENTS), abs_tol=1e-12)
    assert isclose(found.degree, len(false) / len(passing) if passing else 0.0, abs_tol=1e-12)


def test_what_is_no_set_of_values_is_counted_at_most():
    """A residual predicate in the constituent only, and one in an advertisement only."""
    assert imperfection("price > 150", ["price > 150 and matches(t, 'x')"]).share == 50 / 201
    both = ["price > 160 and matches(t, 'x')"]
    assert imperfection("price > 150 and matches(t, 'x')", both).share == 10 / 201
    found = imperfection("price > 150", ["price > 160"], ["price < 156 and matches(t, 'x')"])
    assert found.share == 5 / 201


def test_uniform_values_of_a_schema():
    schema = Schema(
        {
            "whole": Attribute("number", integer=True, minimum=1, maximum=10),
            "real": Attribute("number", minimum=0, maximum=4),
            "flag": Attribute("boolean"),
            "colour": Attribute("string", values=("red", "green", "blue")),
            "open": Attribute("string"),
        }
    )
    probabilities = Uniform.of_schema(schema)

    def of(text: str) -> float:
        leaf = read(text)
        return probabilities.of_values(leaf.attribute, meaning(leaf).inside.ordered)

    assert of("whole < 4") == 0.3
    assert of("whole > 3.5") == 0.7
    assert of("whole is not null") == 1.0
    assert of("whole is null") == 0.0
    assert of("whole = 'x'") == 0.0
    assert of("whole > 99") == of("whole < -99") == 0.0
    assert of("real < 1") == 0.25
    assert of("flag = true") == 0.5
    assert of("colour >= 'green'") == 2 / 3
    assert of("open = 'x'") == 1.0


@pytest.mark.parametrize("integer", [True, False])
def test_a_range_of_one_number(integer):
    only = Attribute("number", integer=integer, minimum=3, maximum=3)
    probabilities = Uniform.of_schema(Schema({"x": only}))
    for text, share in {"x = 3": 1.0, "x < 3": 0.0, "x >= 3": 1.0, "x != 3": 0.0}.items():
        assert probabilities.of_values("x", meaning(read(text)).inside.ordered) == share


def test_whole_numbers_between_fractional_bounds():
    """From 0.5 to 4.5 these are 1, 2, 3 and 4."""
    between = Attribute("number", integer=True, minimum=0.5, maximum=4.5)
    probabilities = Uniform.of_schema(Schema({"x": between}))
    for text, share in {"x < 2": 0.25, "x <= 4": 1.0, "x > 4": 0.0, "x >= 1.5": 0.75}.items():
        assert probabilities.of_values("x", meaning(read(text)).inside.ordered) == share


def measured(text: str, statistics: Statistics) -> float:
    leaf = read(text)
    probabilities = Measured(Selectivities(statistics))
    return probabilities.of_values(leaf.attribute, meaning(leaf).inside.ordered)


def test_the_spread_of_values_is_known_best():
    values = AttributeStatistics(
        events=80,
        kinds={Kind.NUMBER: 70, Kind.OPAQUE: 10},
        bins={Kind.NUMBER: (ValueBin(0, 9, 60, 10),)},
    )
    statistics = Statistics(events=100, attributes={"price": values})
    assert measured("price is not null", statistics) == 0.8
    assert measured("price is null", statistics) == 0.2
    assert measured("price < 100", statistics) == 0.6
    probabilities = Measured(Selectivities(statistics))
    numbers = ordered.intersect(ordered.PRESENT, ((ordered.NUMBER,), (ordered.STRING,)))
    assert probabilities.of_values("price", numbers) == 0.7, "infinities are in no bin"


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("price < 5", 0.2),
        ("price = 7", 0.05),
        # All except what is known to lie elsewhere.
        ("price is not null", 1.0),
        ("price = 6", 1.0 - 0.2 - 0.05 - 0.3),
        ("price <= 3", 0.2),
        ("price >= 12", 0.3),
        ("price > 20", 0.1),
        ("price between 11 and 20", 0.2),
        ("colour = 'red'", 1.0),
    ],
)
def test_what_was_not_counted_is_known_at_most(text, share):
    counted = {"price < 5": 0.2, "price = 7": 0.05, "price > 10": 0.3, "price > 20": 0.1}
    statistics = known(counted).statistics
    assert measured(text, statistics) == pytest.approx(share)


def test_listed_values():
    assert Listed(("a", "b")).share(meaning(read("x > 'a'")).inside.ordered) == 0.5
