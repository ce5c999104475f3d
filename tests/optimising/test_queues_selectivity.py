"""Post-pruning: order, stopping, change, removal; law 4 for whole runs."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from boolcast.algebra import covers
from boolcast.errors import LimitError, PruningTargetError, UnknownSubscriptionError
from boolcast.filters.expressions import Filter
from boolcast.filters.parsing import parse
from boolcast.model.identifiers import SubscriptionId
from boolcast.model.statistics import Statistics
from boolcast.optimising.pruning.changes import (
    CHANGES,
    ChangePolicy,
    Regardless,
    StillBest,
    Tolerant,
)
from boolcast.optimising.pruning.queues import SelectivityQueue
from boolcast.optimising.pruning.stopping import (
    FalsePositiveBudget,
    MemoryTarget,
    Operations,
    RankBudget,
    StoppingRule,
    cut_off,
)
from boolcast.optimising.pruning.trees import Tree, best_pruning, prepared
from boolcast.optimising.statistics.selectivities import Selectivities
from tests.optimising.pruning_histories import S1, S1_SHARES, exhausted, known, shares_for, tree
from tests.strategies import events, filters


def queue(
    entries: dict[str, str], shares: dict[str, float], change: ChangePolicy | None = None
) -> SelectivityQueue:
    made = SelectivityQueue(known(shares), change)
    for name, text in entries.items():
        made.add(SubscriptionId(name), parse(text))
    return made


def texts(pruning: SelectivityQueue) -> dict[str, str]:
    return {name: str(pruning.filter_of(name)) for name in pruning}


FLAT = {"a = 1": 0.9, "b = 1": 0.8, "c = 1": 0.95, "d = 1": 0.9999}


def test_the_least_degradation_is_on_top():
    """P1-T2: the entry with 0.0001 comes before all others."""
    shares = {**FLAT, "e = 1": 0.5}
    entries = {"1000": "a = 1 and b = 1", "2000": "d = 1 and e = 1", "3000": "c = 1 and b = 1"}
    best = best_pruning(tree(entries["2000"], known(shares)))
    assert best is not None
    assert best.degradation == pytest.approx(0.0001)
    assert list(queue(entries, shares).prune(Operations(1)).changed) == ["2000"]


def test_equal_costs_go_by_the_lowest_id():
    pruning = queue({"b": "a = 1 and b = 1", "a": "a = 1 and b = 1"}, FLAT)
    assert list(pruning.prune(Operations(1)).changed) == ["a"]


def test_an_entry_goes_on_with_its_next_pruning_until_it_is_exhausted():
    pruning = queue({"s": S1}, S1_SHARES)
    run = pruning.prune()
    assert run.after.operations == 4
    assert run.stopped_by is None
    assert texts(pruning) == {"s": "title = 'Harry Potter'"}
    assert (run.before.predicates, run.after.predicates, run.floor) == (6, 1, 1)
    assert pruning.prune().after.operations == 0


def test_a_memory_target_is_reached_and_not_overshot():
    pruning = queue({"s": S1, "t": "a = 1 and b = 1 and c = 1"}, {**S1_SHARES, **FLAT})
    run = pruning.prune(MemoryTarget(7))
    assert run.after.predicates == 7
    assert run.stopped_by == MemoryTarget(7)
    assert pruning.prune(MemoryTarget(100)).after.operations == 0


def test_an_impossible_target_is_refused_and_nothing_is_pruned():
    """Each alternative keeps one predicate: three here, however much is pruned."""
    pruning = queue({"s": "a = 1 and b = 1 or c = 1", "t": "a = 1 and c = 1"}, FLAT)
    before = texts(pruning)
    with pytest.raises(PruningTargetError, match="at least 3 remain") as caught:
        pruning.prune(MemoryTarget(2))
    assert caught.value.floor == 3
    assert texts(pruning) == before
    assert pruning.prune(MemoryTarget(3)).after.predicates == 3


def test_a_target_that_the_cheapest_prunings_miss_is_told():
    """The floor is 1, but the cheaper pruning keeps the OR."""
    pruning = queue(
        {"s": "a = 1 and (b = 1 or c = 1)"}, {"a = 1": 0.9, "b = 1": 0.01, "c = 1": 0.01}
    )
    run = pruning.prune(MemoryTarget(1))
    assert (run.after.predicates, run.floor, run.stopped_by) == (2, 1, None)
    with pytest.raises(PruningTargetError, match="at least 2 remain"):
        pruning.prune(MemoryTarget(1))
    assert "nothing is left to prune" in str(run)


def test_a_budget_of_false_positives_is_never_overdrawn():
    pruning = queue({"s": "a = 1 and b = 1 and c = 1"}, FLAT)
    # 0.684 → 0.72 → 0.8.
    run = pruning.prune(FalsePositiveBudget(0.05))
    assert run.after.spent == pytest.approx(0.036)
    assert run.stopped_by == FalsePositiveBudget(0.05)
    assert texts(pruning) == {"s": "a = 1 and b = 1"}
    assert pruning.prune(FalsePositiveBudget(0.05)).after.operations == 0
    assert pruning.prune(FalsePositiveBudget(0.2)).after.spent == pytest.approx(0.116)


def test_a_budget_of_nothing_admits_what_is_free():
    pruning = queue({"s": "a = 1 and b = 1", "t": "a = 1 and c = 1"}, {"a = 1": 1.0, "b = 1": 0.3})
    assert pruning.prune(FalsePositiveBudget(0)).after.operations == 2
    assert texts(pruning) == {"s": "b = 1", "t": "c = 1"}


def test_the_first_rule_that_says_no_ends_the_run():
    pruning = queue({"s": S1}, S1_SHARES)
    rules: tuple[StoppingRule, ...] = (MemoryTarget(1), Operations(2))
    assert pruning.prune(*rules).stopped_by == Operations(2)


def test_an_operation_that_is_refused_is_not_done_by_halves():
    pruning = queue({"s": S1, "t": S1}, S1_SHARES)
    twin = queue({"s": S1, "t": S1}, S1_SHARES)
    pruning.prune(Operations(3))
    pruning.prune(FalsePositiveBudget(0))
    twin.prune(Operations(3))
    assert texts(pruning) == texts(twin)
    assert pruning.standing() == twin.standing()
    assert pruning.prune(Operations(1)).changed == twin.prune(Operations(1)).changed
    assert pruning.prune().after.predicates == twin.prune().after.predicates == 2


@pytest.mark.parametrize(
    ("matching", "operations"),
    [
        ([], 0),
        ([5], 0),
        ([5, 5, 5], 2),
        ([0, 0, 0, 10], 2),
        ([0, 10, 10, 10], 0),
        ([0, 1, 2, 3], 0),
        ([100, 101, 103, 180, 200], 2),
    ],
)
def test_the_cut_off_is_where_the_gain_is_greatest(matching, operations):
    """P1-X1."""
    assert cut_off(matching) == operations


def test_the_cut_off_is_found_before_pruning():
    """Three prunings cost little; the fourth leaves only the title."""
    pruning = queue({"s": S1}, S1_SHARES)
    assert pruning.cut_off() == Operations(3)
    pruning.prune(pruning.cut_off())
    assert texts(pruning) == {"s": "title = 'Harry Potter' and ending < 24"}


# By the first statistics `a` is cheapest to remove from s, and s before t; then `a` is rare.
ENTRIES = {"s": "a = 1 and b = 1", "t": "c = 1 and d = 1"}
EARLY = {"a = 1": 0.99, "b = 1": 0.5, "c = 1": 0.9, "d = 1": 0.5}
LATE = {"a = 1": 0.4, "b = 1": 0.5, "c = 1": 0.9, "d = 1": 0.5}
SLIGHTLY_LATER = {"a = 1": 0.98, "b = 1": 0.5, "c = 1": 0.9, "d = 1": 0.5}


@pytest.mark.parametrize(
    ("change", "later", "expected"),
    [
        # (a): whatever has changed, and by the pruning that was queued.
        (Regardless(), LATE, {"s": "b = 1"}),
        # (b): s now costs more than t.
        (StillBest(), LATE, {"t": "d = 1"}),
        (StillBest(), SLIGHTLY_LATER, {"s": "b = 1"}),
        # (c): the change is within bounds, or not.
        (Tolerant(0.5), LATE, {"s": "a = 1"}),
        (Tolerant(0.1), LATE, {"t": "d = 1"}),
        (Tolerant(0.1), SLIGHTLY_LATER, {"s": "b = 1"}),
        (Tolerant(0.001), SLIGHTLY_LATER, {"s": "b = 1"}),
    ],
)
def test_three_ways_of_handling_change(change, later, expected):
    """P1-B7."""
    pruning = queue(ENTRIES, EARLY, change)
    pruning.learn(known(later))
    run = pruning.prune(Operations(1))
    assert {name: str(filter) for name, filter in run.changed.items()} == expected


def test_without_change_the_three_ways_agree():
    entries = {f"s{place}": S1.replace("24", str(place)) for place in range(20)}
    shares = {**S1_SHARES, **{f"ending < {place}": place / 168 for place in range(20)}}
    results = []
    for make in CHANGES.values():
        pruning = queue(entries, shares, make(0.0))
        pruning.prune(Operations(37))
        results.append(texts(pruning))
    assert results[0] == results[1] == results[2]


def test_an_entry_is_removed_by_its_id_and_nothing_else_changes():
    """P1-B10."""
    pruning = queue({"s": S1, "t": "a = 1 and b = 1"}, {**S1_SHARES, **FLAT})
    pruning.prune(Operations(2))
    kept = texts(pruning)
    pruning.remove(SubscriptionId("s"))
    assert texts(pruning) == {"t": kept["t"]}
    assert pruning.standing().predicates == 2
    with pytest.raises(UnknownSubscriptionError):
        pruning.remove(SubscriptionId("s"))
    with pytest.raises(UnknownSubscriptionError):
        pruning.filter_of(SubscriptionId("s"))


def test_adding_again_replaces():
    pruning = queue({"s": S1}, S1_SHARES)
    pruning.prune()
    pruning.add(SubscriptionId("s"), parse(S1))
    assert (len(pruning), pruning.standing().predicates) == (1, 6)
    assert pruning.prune().after.operations == 4


def test_statistics_of_other_data_prune_badly_but_soundly():
    pruning = queue({"s": S1}, {"temperature > 30": 0.1})
    run = pruning.prune(Operations(2))
    assert run.knowledge.is_foreign
    assert "what is pruned first is a guess" in str(run)
    assert covers(pruning.filter_of(SubscriptionId("s")), parse(S1))


def test_without_any_history_there_is_pruning_all_the_same():
    pruning = SelectivityQueue(Selectivities(Statistics(events=0)))
    pruning.add(SubscriptionId("s"), parse(S1))
    run = pruning.prune()
    assert run.after.predicates == run.floor
    assert run.knowledge.guess == 6


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Operations, -1),
        (MemoryTarget, -1),
        (MemoryTarget, math.nan),
        (MemoryTarget, 2.5),
        (Operations, math.inf),
        (RankBudget, math.nan),
        (RankBudget, 1.5),
        (FalsePositiveBudget, -0.1),
        (FalsePositiveBudget, math.nan),
        (Tolerant, -1.0),
        (Tolerant, math.nan),
    ],
)
def test_nonsense_is_refused(kind, value):
    with pytest.raises(LimitError, match=r" not "):
        kind(value)


@given(
    st.lists(filters(small=True, max_leaves=6), min_size=1, max_size=4),
    st.sampled_from(list(CHANGES.values())),
    st.data(),
)
def test_whatever_a_run_does_entries_cover_their_originals(originals, make, data):
    """P1-T9, law 4, with selectivities that change in between."""
    pruning = SelectivityQueue(data.draw(shares_for(originals)), make(0.1))
    for place, filter in enumerate(originals):
        pruning.add(SubscriptionId(str(place)), filter)
    pruning.prune(Operations(data.draw(st.integers(0, 6))))
    pruning.learn(data.draw(shares_for(originals)))
    pruning.prune(Operations(data.draw(st.integers(0, 6))))
    for place, filter in enumerate(originals):
        entry = pruning.filter_of(SubscriptionId(str(place)))
        verdict = covers(entry, filter)
        assume(not verdict.exhausted)
        assert verdict.holds
        for event in data.draw(st.lists(events(small=True), max_size=4)):
            assert entry.accepts(event) or not filter.accepts(event)


class Model(RuleBasedStateMachine):
    """The queue against entries that are pruned separately."""

    def __init__(self) -> None:
        super().__init__()
        self.selectivities = known({f"{name} = {value}": 0.3 for name in "abc" for value in "01"})
        self.pruning = SelectivityQueue(self.selectivities)
        self.trees: dict[SubscriptionId, list[Tree]] = {}

    @rule(name=st.sampled_from("xyz"), filter=filters(small=True, max_leaves=5))
    def add(self, name: str, filter: Filter) -> None:
        self.pruning.add(SubscriptionId(name), filter)
        start = Tree.of(prepared(filter), self.selectivities)
        self.trees[SubscriptionId(name)] = exhausted(start)

    @precondition(lambda self: self.trees)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.trees)))
        self.pruning.remove(name)
        del self.trees[name]

    @rule(count=st.integers(0, 3))
    def prune(self, count: int) -> None:
        run = self.pruning.prune(Operations(count))
        left = sum(len(trees) - 1 for trees in self.trees.values())
        assert run.after.operations == min(count, left)
        for name, filter in run.changed.items():
            while self.trees[name][0].node != filter:
                del self.trees[name][0]

    @invariant()
    def entries_are_steps_of_their_own_pruning(self) -> None:
        assert set(self.pruning) == set(self.trees)
        for name, trees in self.trees.items():
            assert self.pruning.filter_of(name) == trees[0].node
        standing = self.pruning.standing()
        heads = [trees[0] for trees in self.trees.values()]
        assert standing.predicates == sum(tree.predicates for tree in heads)


TestModel = Model.TestCase
