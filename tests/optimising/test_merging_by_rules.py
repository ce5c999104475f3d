"""Merging groups by rules: worked examples, law 4, thresholds."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.algebra import covers, equivalent
from boolcast.filters.expressions import Comparison, Filter, IsNull, conjunction, disjunction
from boolcast.filters.parsing import parse
from boolcast.matching.diagrams.diagrams import Diagrams
from boolcast.model.identifiers import SubscriptionId
from boolcast.model.schemas import Attribute, Schema
from boolcast.optimising.merging.by_rules import Merged, MergingRules, Threshold
from boolcast.optimising.merging.groups import AttributeOrder, split
from boolcast.optimising.merging.merger_imperfection import Advertised, AllEvents, imperfection_of
from boolcast.optimising.statistics.probabilities import Measured, Range, Uniform
from tests.optimising.pruning_histories import known, read
from tests.strategies import events, predicates, values

ORDER = AttributeOrder(("price", "time", "destination"))
PRICES = Uniform({"price": Range(0, 200)})
INTEGERS = Schema({"price": Attribute("number", integer=True)})
TRIP = "time = 'July 20,2004' and destination = 'Ottawa'"


def named(texts: list[str]) -> dict[SubscriptionId, Filter]:
    return {SubscriptionId(f"s{number}"): parse(text) for number, text in enumerate(texts)}


def up_to(share: float, *, drops: int = 0, advertisements: list[str] | None = None) -> Threshold:
    if advertisements is None:
        return Threshold(share, AllEvents(PRICES), drops)
    return Threshold(share, Advertised(PRICES, map(parse, advertisements)), drops)


def merge(
    texts: list[str], threshold: Threshold | None = None, schema: Schema | None = None
) -> list[Merged]:
    return list(MergingRules(ORDER, schema=schema, threshold=threshold).mergers(named(texts)))


def filters_of(found: list[Merged]) -> list[str]:
    return [str(each.filter) for each in found]


def test_a_perfect_merger():
    """P2-T2: o1 and o2 of T1."""
    (found,) = merge([f"price = 150 and {TRIP}", f"price < 150 and {TRIP}"])
    assert str(found.filter) == f"price <= 150 and {TRIP}"
    assert sorted(found.entries) == ["s0", "s1"]
    assert (found.imperfection, found.operations) == (0.0, 1)
    diagrams = Diagrams()
    diagrams.add("merger", found.filter)
    assert diagrams.figures().nodes == 3


def test_an_imperfect_merger_of_several():
    """P2-T7, step by step, and against all constituents."""
    texts = ["price > 150", "price = 145", "price = 147", "price = 148"]
    (found,) = merge(texts, up_to(3 / 201))
    assert str(found.filter) == "price >= 145"
    assert sorted(found.entries) == ["s0", "s1", "s2", "s3"]
    assert (found.imperfection, found.operations) == (3 / 201, 3)
    (less,) = merge(texts, up_to(2.9 / 201))
    assert str(less.filter) == "price >= 147"
    assert less.imperfection == 2 / 201
    assert merge(texts, up_to(0.0)) == merge(texts) == []


def test_a_merger_by_advertisements():
    """P2-T8: D' = 0."""
    texts = ["price > 150", "price = 130", "price = 120"]
    (found,) = merge(texts, up_to(0.0, advertisements=["price > 150"]))
    assert (str(found.filter), found.imperfection) == ("price >= 120", 0.0)
    assert merge(texts, up_to(0.0, advertisements=["price > 100"])) == []
    (without,) = merge(texts, up_to(29 / 201))
    assert (str(without.filter), without.imperfection) == ("price >= 120", 29 / 201)


def test_presence_takes_up_all():
    texts = ["price < 5", "price = 7", "price > 9", "price = 'x'"]
    assert filters_of(merge(texts[:3], up_to(4 / 201))) == ["price is not null"]
    # 5 and 6 lie beside `<= 7`, 8 and 9 beside `>= 7`: of equal costs the first.
    assert filters_of(merge(texts[:3], up_to(3.9 / 201))) == ["price <= 7"]
    (found,) = merge(texts, up_to(4 / 201))
    assert sorted(found.entries) == ["s0", "s1", "s2", "s3"]
    assert filters_of(merge([*texts[:3], "price is not null"])) == ["price is not null"]


def test_what_is_left_of_a_group():
    """Each end takes what it can; values too far from both stay."""
    texts = ["price < 5", "price = 6", "price = 50", "price = 99", "price > 100"]
    found = merge(texts, up_to(1 / 201))
    assert sorted(filters_of(found)) == ["price <= 6", "price >= 99"]
    assert {name for each in found for name in each.entries} == {"s0", "s1", "s3", "s4"}


def test_covered_constituents_are_taken_up():
    (found,) = merge(["price < 5", "price < 9", "price = 3", "price = 9", "price < 5"])
    assert str(found.filter) == "price <= 9"
    assert len(found.entries) == 5


def test_integers():
    texts = ["price <= 5", "price = 6", "price = 7", "price = 9"]
    (found,) = merge(texts, schema=INTEGERS)
    assert (str(found.filter), found.entries) == ("price <= 7", ("s0", "s1", "s2"))
    assert merge(texts) == []


def test_groups_have_the_same_remainder():
    texts = ["price = 5 and time = 1", "price < 5 and time = 2", "price < 5", "time = 1"]
    assert merge(texts, up_to(1.0)) == []


def test_a_difference_below_the_top_is_not_found():
    """P2-E12."""
    assert merge(["price < 5 and time = 1", "price < 5 and time < 1"], up_to(1.0, drops=1)) == []


def test_predicates_are_dropped_as_a_last_resort():
    """P2-B10: for conjunctions that differ in one predicate on top, or in two."""
    texts = [f"price = {price} and {TRIP}" for price in (3, 5)]
    assert merge(texts, up_to(1.0)) == []
    (found,) = merge(texts, up_to(1.0, drops=1))
    assert str(found.filter) == TRIP
    assert found.imperfection == 199 / 201
    assert merge(texts, up_to(0.98, drops=1)) == []
    others = [
        "price = 3 and time = 1 and destination = 2",
        "price = 5 and time = 2 and destination = 2",
    ]
    assert merge(others, up_to(1.0, drops=1)) == []
    (two,) = merge(others, up_to(1.0, drops=2))
    assert str(two.filter) == "destination = 2"


def test_a_merger_is_taken_up_by_its_constituents():
    """Measured against the originals: 145 is false for the merger, not for its constituent."""
    held = {SubscriptionId("m"): named(["price > 150", "price = 145"])}
    entries = {SubscriptionId("m"): parse("price >= 145"), **named(["price = 143", "price = 146"])}
    rules = MergingRules(ORDER, threshold=up_to(5 / 201))
    (found,) = rules.mergers(entries, held)
    assert str(found.filter) == "price >= 143"
    # 144 and 147 to 150.
    assert found.imperfection == 5 / 201
    rules = MergingRules(ORDER, threshold=up_to(4.9 / 201))
    (less,) = rules.mergers(entries, held)
    assert (str(less.filter), less.imperfection) == ("price >= 145", 4 / 201)


def test_a_merger_that_is_perfect_for_integers_stays_so():
    held = {SubscriptionId("m"): named(["price <= 5", "price = 6"])}
    entries = {SubscriptionId("m"): parse("price <= 6"), SubscriptionId("t"): parse("price = 7")}
    (found,) = MergingRules(ORDER, schema=INTEGERS).mergers(entries, held)
    assert str(found.filter) == "price <= 7"


@pytest.mark.slow
def test_a_long_line_is_taken_up_bit_by_bit():
    """A neighbour with very many values does not stall a broker: the rest waits."""
    entries = named(["price < 0", *(f"price = {price}" for price in range(2_000))])
    probabilities = Uniform({"price": Range(0, 1_999)})
    rules = MergingRules(ORDER, threshold=Threshold(0.0, AllEvents(probabilities)))
    (found,) = rules.mergers(entries)
    assert (str(found.filter), len(found.entries)) == ("price <= 499", 501)
    merger = SubscriptionId("m")
    left = {name: each for name, each in entries.items() if name not in found.entries}
    held = {merger: {name: entries[name] for name in found.entries}}
    (more,) = rules.mergers({merger: found.filter, **left}, held)
    assert (str(more.filter), len(more.entries)) == ("price <= 999", 501)


def test_measured_statistics():
    shares = {"price < 5": 0.4, "price = 7": 0.1, "price > 9": 0.48}
    audience = AllEvents(Measured(known(shares)))
    entries = named(["price < 5", "price = 7", "price > 9"])
    (found,) = MergingRules(ORDER, threshold=Threshold(0.03, audience)).mergers(entries)
    assert str(found.filter) == "price is not null"
    assert found.imperfection == pytest.approx(0.02)


class TestOrder:
    """P2-B3."""

    def test_frequent_attributes_go_to_the_bottom(self):
        filters = map(parse, ["a = 1 and b = 1", "b = 2", "b = 3 and c = 1", "c = 2"])
        assert AttributeOrder.of(filters).names == ("a", "c", "b")

    def test_of_those_that_are_as_frequent_the_concentrated_ones(self):
        filters = [parse(f"price {each} and {TRIP}") for each in ("= 150", "< 150", "< 9")]
        assert AttributeOrder.of(filters).names[0] == "price"

    def test_a_frequent_attribute_whose_predicates_all_differ_is_above(self):
        filters = [parse(f"x > {each}") for each in range(5)]
        filters += [parse(f"y = 1 and x < {each}") for each in range(5)]
        assert AttributeOrder.of(filters).names == ("x", "y")

    def test_unknown_attributes_are_on_top(self):
        found = split(parse("b = 1 and new = 2 and a = 3"), AttributeOrder(("a", "b")))
        assert found is not None
        assert found.attribute == "new"

    @pytest.mark.parametrize(
        "text",
        ["a = 1 or b = 1", "a > 1 and a < 9", "a < b and c = 1", "true", "not (a = 1 and b = 1)"],
    )
    def test_what_has_no_single_predicate_on_top(self, text):
        assert split(parse(text), AttributeOrder(("a", "b", "c"))) is None

    def test_a_negated_predicate_is_a_predicate(self):
        found = split(parse("not a < 1 and b = 1"), AttributeOrder(("a", "b")))
        assert found is not None
        assert str(found.predicate) == "a >= 1"


LINE = st.builds(
    Comparison,
    st.just("a"),
    st.sampled_from(["=", "=", "=", "!=", "<", "<=", ">", ">="]),
    st.one_of(st.integers(0, 9), st.integers(0, 9), values(small=True)),
)
TOPS = st.one_of(LINE, LINE, LINE, st.just(IsNull("a", negated=True)), predicates(small=True))
REMAINDERS = st.sampled_from([(), ("b = 1",), ("b = 1", "contains(c, 'a')"), ("b > 0", "c = 'a'")])
CONJUNCTIONS = st.tuples(TOPS, REMAINDERS).map(
    lambda each: conjunction([each[0], *map(read, each[1])])
)
SMALL = Uniform({"a": Range(0, 9), "b": Range(0, 1)})
SCHEMAS = st.sampled_from(
    [
        None,
        Schema({"a": Attribute("number", integer=True)}),
        Schema({"a": Attribute("number", minimum=0, maximum=9)}),
        Schema({"a": Attribute("number")}),
    ]
)


@given(
    st.lists(CONJUNCTIONS, min_size=2, max_size=8),
    st.sampled_from([None, 0.0, 0.1, 0.3, 1.0]),
    st.integers(0, 2),
    st.none() | st.lists(CONJUNCTIONS, max_size=3),
    SCHEMAS,
    st.lists(events(small=True), max_size=6),
)
def test_mergers_cover_and_keep_to_the_threshold(
    filters: list[Filter],
    share: float | None,
    drops: int,
    advertisements: list[Filter] | None,
    schema: Schema | None,
    several: list[dict[str, object]],
):
    """Law 4; a perfect merger accepts nothing more; imperfection is against all constituents."""
    audience = AllEvents(SMALL) if advertisements is None else Advertised(SMALL, advertisements)
    threshold = None if share is None else Threshold(share, audience, drops)
    entries: dict[SubscriptionId, Filter] = {
        SubscriptionId(f"s{place}"): each for place, each in enumerate(filters)
    }
    order = AttributeOrder(("a", "b", "c"))
    found = list(MergingRules(order, schema=schema, threshold=threshold).mergers(entries))
    members = [name for each in found for name in each.entries]
    assert len(members) == len(set(members)), "each entry is in one merger at most"
    for merged in found:
        constituents = [entries[name] for name in merged.entries]
        assert len(constituents) > 1
        assert merged.operations >= len(constituents) - 1
        for each in constituents:
            assert covers(merged.filter, each), (str(merged.filter), str(each))
            assert all(merged.filter.accepts(e) or not each.accepts(e) for e in several)
        union = disjunction(constituents)
        if threshold is None:
            assert equivalent(merged.filter, union, schema=schema)
        else:
            expected = imperfection_of(merged.filter, constituents, audience).share
            assert merged.imperfection <= threshold.share
            if schema is None:
                assert merged.imperfection == pytest.approx(expected)
            else:
                # Events outside the schema do not count.
                assert merged.imperfection <= expected + 1e-12


@given(st.lists(LINE, min_size=2, max_size=8), st.sampled_from([None, 0.0, 0.1, 0.3]))
def test_no_pair_is_left_that_a_rule_would_merge(filters: list[Comparison], share: float | None):
    """Looking at two steps each time is enough."""
    threshold = None if share is None else Threshold(share, AllEvents(SMALL))
    rules = MergingRules(AttributeOrder(("a",)), threshold=threshold)
    entries: dict[SubscriptionId, Filter] = {
        SubscriptionId(f"s{place}"): each for place, each in enumerate(filters)
    }
    found = list(rules.mergers(entries))
    merged = {name for each in found for name in each.entries}
    table = {name: each for name, each in entries.items() if name not in merged}
    held = {}
    for number, each in enumerate(found):
        name = SubscriptionId(f"m{number}")
        table[name] = each.filter
        held[name] = {member: entries[member] for member in each.entries}
    for pair in combinations(table, 2):
        two = {name: table[name] for name in pair}
        assert list(rules.mergers(two, held)) == [], [str(each) for each in two.values()]
