"""Predicate replacement: which predicate, by which, in which order; law 4."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from boolcast.algebra import covers
from boolcast.errors import ReplacementTargetError
from boolcast.filters.parsing import parse
from boolcast.model.identifiers import SubscriptionId
from boolcast.optimising.pruning.replacement import ReplacementRun, replace_predicates
from boolcast.optimising.pruning.stopping import (
    FalsePositiveBudget,
    MemoryTarget,
    Operations,
    StoppingRule,
)
from boolcast.optimising.pruning.trees import prepared
from tests.optimising.pruning_histories import known, shares_for
from tests.strategies import events, filters


def replaced(
    entries: dict[str, str], shares: dict[str, float], *rules: StoppingRule
) -> ReplacementRun:
    named = {SubscriptionId(name): parse(text) for name, text in entries.items()}
    return replace_predicates(named, known(shares), *rules)


def pairs(run: ReplacementRun) -> list[tuple[str, str]]:
    return [(str(each.replaced), str(each.by)) for each in run.replacements]


ENTRIES = {
    "s": "price < 10 and title = 'Emma'",
    "t": "price < 12 and title = 'Ulysses'",
    "u": "price < 20",
}
SHARE_RULES = {
    "price < 10": 0.1,
    "price < 12": 0.12,
    "price < 20": 0.5,
    "title = 'Emma'": 0.01,
    "title = 'Ulysses'": 0.01,
}


def test_the_nearest_covering_predicate_takes_the_place():
    """P1-B11: the least degradation first; a replacement may itself be replaced later."""
    run = replaced(ENTRIES, SHARE_RULES)
    assert pairs(run) == [("price < 10", "price < 12"), ("price < 12", "price < 20")]
    assert {name: str(filter) for name, filter in run.changed.items()} == {
        "s": "price < 20 and title = 'Emma'",
        "t": "price < 20 and title = 'Ulysses'",
    }
    assert (run.before.predicates, run.after.predicates, run.floor) == (5, 3, 3)
    assert run.stopped_by is None


def test_rules_stop_it():
    assert len(replaced(ENTRIES, SHARE_RULES, Operations(1)).replacements) == 1
    assert replaced(ENTRIES, SHARE_RULES, MemoryTarget(4)).after.predicates == 4
    run = replaced(ENTRIES, SHARE_RULES, FalsePositiveBudget(0.001))
    assert pairs(run) == [("price < 10", "price < 12")]
    assert set(run.changed) == {"s"}
    # Of the half that `price < 20` leaves, s takes 0.0012 where it took 0.001, beside t.
    assert run.after.spent == pytest.approx(0.5 * 0.9988 * 0.0002)


def test_an_impossible_target_is_refused():
    with pytest.raises(ReplacementTargetError, match=r"no replacement leaves 2 distinct.* least 3"):
        replaced(ENTRIES, SHARE_RULES, MemoryTarget(2))


ALIKE = {"s": "z >= ''", "t": "z like '%'", "u": "ends_with(z, '')"}


@pytest.mark.parametrize(
    ("others", "floor"),
    [
        ({}, 1),
        # The one that covers all stays; those covered by the others go too.
        ({"v": "z is not null"}, 1),
        ({"v": "z is not null", "w": "z >= 'm'"}, 1),
        ({"v": "z is null"}, 2),
    ],
)
def test_of_predicates_that_mean_the_same_one_stays(others, floor):
    entries = {**ALIKE, **others}
    shares = dict.fromkeys(entries.values(), 0.5) | {"z is not null": 0.6, "z >= 'm'": 0.1}
    run = replaced(entries, shares)
    assert run.floor == run.after.predicates == floor
    with pytest.raises(ReplacementTargetError, match=f"at least {floor} remain"):
        replaced(entries, shares, MemoryTarget(floor - 1))
    assert replaced(entries, shares, MemoryTarget(floor)).after.predicates == floor


def test_a_target_that_is_missed_is_told():
    run = replaced(ENTRIES, SHARE_RULES, MemoryTarget(3), FalsePositiveBudget(0.001))
    assert str(run.missed) == (
        "the target of 3 predicates is missed: 4 remain, FalsePositiveBudget(share=0.001)"
        " stopped the run"
    )
    assert replaced(ENTRIES, SHARE_RULES, MemoryTarget(3)).missed is None


@pytest.mark.parametrize(
    ("one", "other", "is_replaced"),
    [
        ("price = 5", "price < 10", True),
        ("price = 5", "price in (5, 6)", True),
        ("price between 2 and 3", "price is not null", True),
        ("title = 'Emma'", "starts_with(title, 'Em')", True),
        ("title like 'E%a'", "title like '%a'", True),
        ("price = 5", "price < 5", False),
        ("price = 5", "size < 10", False),
        ("price < 10", "price < '10'", False),
        ("price is null", "price is not null", False),
        ("matches(title, 'a')", "title is not null", False),
        ("bid > reserve", "bid >= reserve", False),
    ],
)
def test_what_covers(one, other, is_replaced):
    run = replaced({"s": one, "t": other}, {one: 0.1, other: 0.2})
    assert pairs(run) == ([(one, other)] if is_replaced else [])


def test_equal_siblings_become_one():
    run = replaced({"s": "price < 10 and a = 1", "t": "price < 20 and price < 10"}, SHARE_RULES)
    assert {name: str(filter) for name, filter in run.changed.items()} == {
        "s": "price < 20 and a = 1",
        "t": "price < 20",
    }


def test_without_a_covering_predicate_nothing_happens():
    run = replaced({"s": "a = 1", "t": "a = 2"}, {})
    assert (run.replacements, run.changed, run.after) == ((), {}, run.before)
    assert run.knowledge.is_foreign


@given(
    st.lists(filters(small=True, max_leaves=4), min_size=1, max_size=4),
    st.lists(events(small=True), max_size=6),
    st.data(),
)
def test_an_entry_covers_its_original(originals, seen, data):
    """Law 4, by the algebra and by the evaluator."""
    entries = {SubscriptionId(str(place)): filter for place, filter in enumerate(originals)}
    run = replace_predicates(entries, data.draw(shares_for(originals)))
    assert run.after.predicates == run.before.predicates - len(run.replacements) == run.floor
    for name, filter in run.changed.items():
        verdict = covers(filter, entries[name])
        assume(not verdict.exhausted)
        assert verdict.holds
        for event in seen:
            assert filter.accepts(event) or not entries[name].accepts(event)
    now = [run.changed.get(name, prepared(filter)) for name, filter in entries.items()]
    left = {leaf for filter in now for leaf in filter.predicates()}
    assert not left & {each.replaced for each in run.replacements}
