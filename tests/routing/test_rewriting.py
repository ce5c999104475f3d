"""Law 4 for the policies: whatever comes and goes, a form that is matched covers the original."""

from collections.abc import Callable, Iterable, Mapping
from math import prod
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.algebra import covers
from boolcast.filters.expressions import Filter
from boolcast.filters.parsing import parse
from boolcast.model.identifiers import BrokerId, SubscriptionId
from boolcast.model.statistics import Statistics
from boolcast.optimising.merging.mergers import Mergers
from boolcast.optimising.pruning.trees import Tree, prepared
from boolcast.optimising.statistics.selectivities import Selectivities
from boolcast.routing.policies.registry import REWRITING
from boolcast.routing.protocol.configuration import MergingSettings, SendingSettings, configure
from boolcast.routing.rewriting.merging import MergingByPruning, MergingByRules, Situation
from boolcast.routing.rewriting.outgoing_filter import PrePruning
from boolcast.routing.rewriting.subscription_rewriting import SubscriptionPruning
from boolcast.simulation.scenarios.combinations import REWRITING as VARIANTS
from boolcast.simulation.scenarios.histories import ALIKE, FILTERS

_FILTERS = st.one_of(st.sampled_from(ALIKE), st.sampled_from(FILTERS))
_PREDICATES = ("y = 1", "x < 4", "x = 2", "x != 1", "x < 3", "x > 1", "x > 4", "x < 2")
_SELECTIVITIES = st.lists(
    st.integers(0, 100), min_size=len(_PREDICATES), max_size=len(_PREDICATES)
).map(
    lambda counts: Selectivities(
        Statistics(events=100, predicates=dict(zip(_PREDICATES, counts, strict=True)))
    )
)
_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(0, 7), _FILTERS),
        st.tuples(st.just("remove"), st.integers(0, 7), st.none()),
        st.tuples(st.just("review"), st.none(), _SELECTIVITIES),
    ),
    max_size=25,
)


def expected_share(filters: Iterable[Filter], selectivities: Selectivities) -> float:
    """Of events that match one of the filters at least, if they are independent."""
    averages = [Tree.of(prepared(each), selectivities).estimate.average for each in filters]
    return 1.0 - prod(1.0 - average for average in averages)


def spent(
    originals: dict[SubscriptionId, Filter],
    rewritten: Mapping[SubscriptionId, Filter],
    selectivities: Selectivities,
) -> float:
    """The oracle: of each entry its own form where pruning seems to have made it rarer."""
    counted = {
        name: max(
            filter,
            rewritten.get(name, filter),
            key=lambda each: expected_share([each], selectivities),
        )
        for name, filter in originals.items()
    }
    return ways_taken(counted, selectivities) - ways_taken(originals, selectivities)


def way_of(name: SubscriptionId) -> str:
    """Two neighbours."""
    return "left" if name in {"s0", "s1", "s2"} else "right"


def ways_taken(filters: Mapping[SubscriptionId, Filter], selectivities: Selectivities) -> float:
    """To how many neighbours an event goes."""
    return sum(
        expected_share([f for name, f in filters.items() if way_of(name) == way], selectivities)
        for way in ("left", "right")
    )


_BUDGET = {"false_positive_budget": 0.2}
_BUDGETS: list[dict[str, Any]] = [
    {"rewriting": "pruning", **_BUDGET},
    {"rewriting": "pruning", **_BUDGET, "reviews.changes": "still-best"},
    {"rewriting": "pruning", **_BUDGET, "reviews.changes": "tolerant", "reviews.change_bound": 0.1},
    {"rewriting": "pruning", **_BUDGET, "memory_target": 6},
    {"rewriting": "pruning"},
    {"rewriting": "replacement", **_BUDGET},
]


@pytest.mark.parametrize("variant", _BUDGETS, ids=str)
@given(steps=_STEPS, last=_SELECTIVITIES)
def test_what_is_told_as_spent_is_what_is_known_now(variant: dict[str, Any], steps, last):
    """Whatever comes, goes and is learnt: by the newest statistics, and within the budget."""
    configuration = configure(variant)
    policy = REWRITING[configuration.policies.rewriting.kind](configuration)
    originals: dict[SubscriptionId, Filter] = {}
    has_changed = False
    for action, number, argument in [*steps, ("review", None, last)]:
        name = SubscriptionId(f"s{number}")
        if action == "add" and name not in originals:
            policy.add(name, argument, way_of(name))
            originals[name] = argument
            has_changed = True
        elif action == "remove" and name in originals:
            policy.remove(name)
            del originals[name]
            has_changed = True
        elif action == "review":
            # As `routing.core.reviewing` does.
            if has_changed or policy.is_overspent(argument):
                policy.rewrite(argument)
                has_changed = False
            told = policy.spent(argument)
            assert told == pytest.approx(spent(originals, policy.rewritten, argument), abs=1e-9)
            assert told <= (configuration.false_positive_budget or 1.0) + 1e-9
            assert not policy.is_overspent(argument)


@pytest.mark.parametrize("variant", [each for each in VARIANTS if each], ids=str)
@given(steps=_STEPS, last=_SELECTIVITIES)
def test_what_is_matched_covers_what_came(variant: dict[str, Any], steps, last):
    configuration = configure(variant)
    policy = REWRITING[configuration.policies.rewriting.kind](configuration)
    originals: dict[SubscriptionId, Filter] = {}
    engine: dict[SubscriptionId, Filter] = {}
    for action, number, argument in [*steps, ("review", None, last)]:
        name = SubscriptionId(f"s{number}")
        if action == "add" and name not in originals:
            policy.add(name, argument, way_of(name))
            originals[name] = engine[name] = argument
        elif action == "remove" and name in originals:
            policy.remove(name)
            del originals[name], engine[name]
        elif action == "review":
            done = policy.rewrite(argument)
            engine |= done.changed
            if configuration.false_positive_budget is not None:
                assert policy.spent(argument) <= 0.2 + 1e-9
            if configuration.policies.reviews.changes == "regardless":
                assert policy.rewrite(argument).changed == {}, "nothing has come or gone since"
        assert engine == {**originals, **policy.rewritten}
    assert engine.keys() == originals.keys()
    for name, filter in engine.items():
        assert covers(filter, originals[name])
    assert policy.removed() >= 0


def test_what_is_pruned_stays_so_unless_entries_have_left():
    """A target is overshot by an operation, and that is no room for others."""
    policy = SubscriptionPruning(configure({"rewriting": "pruning", "memory_target": 2}))
    counts = {"a = 1": 10, "b = 1": 90, "c = 1": 90, "d = 1": 5}
    wide = Selectivities(Statistics(events=100, predicates=counts))
    name = SubscriptionId("s")
    policy.add(name, parse("a = 1 and (b = 1 or c = 1)"))
    policy.rewrite(wide)
    assert str(policy.rewritten[name]) == "a = 1"
    narrow = Selectivities(Statistics(events=100, predicates={**counts, "a = 1": 99, "b = 1": 1}))
    assert policy.rewrite(narrow).changed == {}
    policy.add(SubscriptionId("t"), parse("d = 1"))
    assert policy.rewrite(narrow).changed == {}
    # With t there is room, and all is looked at anew.
    policy.remove(SubscriptionId("t"))
    policy.rewrite(narrow)
    assert str(policy.rewritten[name]) == "b = 1 or c = 1"


def situation(
    entries: dict[SubscriptionId, Filter],
    selectivities: Selectivities,
    new_id: Callable[[], str],
    mergers: Mergers | None = None,
    advertisements: Iterable[Filter] = (),
) -> Situation:
    return Situation(
        link=BrokerId("A"),
        entries=entries,
        mergers={merger.id: merger for merger in mergers or ()},
        selectivities=selectivities,
        advertisements=list(advertisements),
        new_id=new_id,
    )


@given(
    filters=st.lists(_FILTERS, max_size=12), selectivities=_SELECTIVITIES, size=st.integers(2, 4)
)
def test_a_merger_covers_its_constituents_and_is_smaller(filters, selectivities, size):
    policy = MergingByPruning(MergingSettings(imperfection=0.6, size=size))
    entries = {SubscriptionId(f"s{number}"): each for number, each in enumerate(filters)}
    ids = iter(f"B:1:{number}" for number in range(100))
    made = list(policy.propose(situation(entries, selectivities, lambda: next(ids))))
    merged = [name for merger in made for name in merger.constituents]
    assert len(merged) == len(set(merged))
    for merger in made:
        assert 2 <= len(merger.constituents) <= size
        for name, filter in merger.constituents.items():
            assert entries[name] == filter
            assert covers(merger.filter, filter)
        separately = sum(len(list(each.predicates())) for each in merger.constituents.values())
        assert len(list(merger.filter.predicates())) < separately
        assert merger.imperfection <= 0.6
    rest = {name: each for name, each in entries.items() if name not in merged}
    for merger in policy.propose(situation(rest, selectivities, lambda: next(ids))):
        assert len(merger.constituents) < size, "only what was left alone before"


_RULES = [
    {"merging": "perfect"},
    {"merging": "imperfect", "merging.imperfection": 0.0},
    {"merging": "imperfect", "merging.imperfection": 0.4},
    {"merging": "imperfect", "merging.imperfection": 0.4, "merging.imperfection_of": "advertised"},
    {"merging": "imperfect", "merging.imperfection": 0.9, "merging.dropped_predicates": 2},
]


@given(
    rounds=st.lists(st.lists(_FILTERS, max_size=6), max_size=4),
    selectivities=_SELECTIVITIES,
    advertisements=st.lists(_FILTERS, max_size=3),
    policy=st.sampled_from(_RULES),
)
def test_mergers_by_rules_grow_and_still_cover(rounds, selectivities, advertisements, policy):
    """Law 4; a merger takes up all of another one; what is proposed is not unfit at once."""
    rules = MergingByRules(configure(policy).policies.merging)
    ids = iter(f"B:1:{number}" for number in range(100))
    mergers = Mergers()
    originals: dict[SubscriptionId, Filter] = {}
    for turn, filters in enumerate(rounds):
        originals |= {SubscriptionId(f"s{turn}.{n}"): each for n, each in enumerate(filters)}
        for proposed in (True, False):
            merged = {name for merger in mergers for name in merger.constituents}
            left = {name: each for name, each in originals.items() if name not in merged}
            now = situation(left, selectivities, lambda: next(ids), mergers, advertisements)
            found = list(rules.propose(now))
            assert proposed or found == [], "nothing has come since"
            for merger in found:
                mergers.add(merger)
            now = situation(left, selectivities, lambda: next(ids), mergers, advertisements)
            assert rules.unfit(now) == []
        for merger in mergers:
            assert len(merger.constituents) > 1
            for name, filter in merger.constituents.items():
                assert originals[name] == filter
                assert covers(merger.filter, filter)


@given(filter=_FILTERS, selectivities=_SELECTIVITIES)
def test_what_is_sent_covers_what_was_asked_for(filter, selectivities):
    policy = PrePruning(SendingSettings(degradation=0.5))
    assert covers(policy.filter_to_send(filter, selectivities), filter)
    assert policy.filter_to_send(filter, None) is filter


def test_what_did_not_merge_is_not_tried_again():
    selectivities = Selectivities(Statistics(events=100, predicates={"y = 1": 1}))
    policy = MergingByPruning(MergingSettings(imperfection=0.0))
    entries = {
        SubscriptionId("s1"): parse("y = 1 and x > 3"),
        SubscriptionId("s2"): parse("y = 1 and x < 3"),
    }
    asked: list[str] = []

    def new_id() -> str:
        asked.append(f"B:1:{len(asked)}")
        return asked[-1]

    for _ in range(3):
        assert list(policy.propose(situation(entries, selectivities, new_id))) == []
    assert len(asked) == 1
    entries[SubscriptionId("s3")] = parse("y = 1 and x = 3")
    list(policy.propose(situation(entries, selectivities, new_id)))
    assert len(asked) == 2


def test_mergers_that_no_neighbour_would_take_are_not_made():
    """Two lists of patterns are too much text for one filter."""
    known = {"y = 1": 1, "name like '%x%'": 1}
    selectivities = Selectivities(Statistics(events=100, predicates=known))
    policy = MergingByPruning(MergingSettings(imperfection=0.0))
    long = [
        " or ".join(f"name like '%{letter * 90}{number}%'" for number in range(100))
        for letter in "ab"
    ]
    entries = {
        SubscriptionId(f"s{number}"): parse(f"y = 1 and ({text})")
        for number, text in enumerate(long)
    }
    assert list(policy.propose(situation(entries, selectivities, lambda: "B:1:1"))) == []
