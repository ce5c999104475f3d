"""Mergers by pruning: made, merged again, cancelled, covered; law 4."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from msgspec.structs import replace

from boolcast.algebra import covers, equivalent
from boolcast.errors import FilterLimitError, UnknownSubscriptionError
from boolcast.filters.expressions import Filter
from boolcast.filters.limits import Limits
from boolcast.filters.parsing import parse
from boolcast.model.identifiers import SubscriptionId
from boolcast.optimising.merging.mergers import Exchange, Merger, Mergers, merged
from tests.optimising.pruning_histories import known, shares_for
from tests.strategies import events, filters

SHARE_RULES = {
    "title = 'Emma'": 0.01,
    "price < 10": 0.2,
    "price < 20": 0.6,
    "condition = 'new'": 0.2,
    "condition = 'used'": 0.8,
}
CHEAP = "title = 'Emma' and price < 10 and condition = 'new'"
DEAR = "title = 'Emma' and price < 20 and condition = 'used'"


def named(**texts: str) -> dict[SubscriptionId, Filter]:
    return {SubscriptionId(name): parse(text) for name, text in texts.items()}


def merge(
    name: str, constituents: dict[SubscriptionId, Filter], imperfection: float = 0.0
) -> Merger:
    return merged(SubscriptionId(name), constituents, known(SHARE_RULES), imperfection=imperfection)


def test_a_perfect_merger_is_the_or_of_its_constituents():
    """P1-B9."""
    merger = merge("m", named(s=CHEAP, t=DEAR))
    assert (merger.operations, merger.imperfection) == (0, 0)
    assert equivalent(merger.filter, parse(f"{CHEAP} or {DEAR}"))


@pytest.mark.parametrize(
    ("imperfection", "predicates", "expected"),
    [
        # Without its condition the second covers the first.
        (0.0012, 0, "title = 'Emma' and price < 20"),
        (1.0, 5, "title = 'Emma' and price < 20"),
        # What both require is left, once.
        (0.011, 0, "title = 'Emma'"),
    ],
)
def test_prunings_set_the_imperfection(imperfection, predicates, expected):
    merger = merged(
        SubscriptionId("m"),
        named(s=CHEAP, t=DEAR),
        known(SHARE_RULES),
        imperfection=imperfection,
        predicates=predicates,
    )
    assert str(merger.filter) == expected
    assert merger.imperfection <= imperfection
    assert merger.operations > 0


def test_what_is_free_is_pruned_from_a_perfect_merger():
    shares = {**SHARE_RULES, "price < 20": 1.0}
    merger = merged(SubscriptionId("m"), named(s=CHEAP, t=DEAR), known(shares))
    assert str(merger.filter) == f"{CHEAP} or title = 'Emma' and condition = 'used'"


def test_what_another_constituent_covers_adds_nothing():
    assert str(merge("m", named(s="price < 10 and title = 'Emma'", t="price < 20")).filter) == (
        "price < 20"
    )


def test_equal_constituents_merge_to_one_filter():
    assert str(merge("m", named(s=CHEAP, t=CHEAP)).filter) == CHEAP


def test_a_merger_that_no_neighbour_would_take_is_refused():
    constituents = named(**{f"s{place}": f"a{place} = 1 and b = 1" for place in range(4)})
    with pytest.raises(FilterLimitError, match="more than 7 predicates"):
        merged(SubscriptionId("m"), constituents, known({}), limits=Limits(predicates=7))


@pytest.mark.parametrize(
    ("constituents", "imperfection"), [(named(s=CHEAP), 0.0), (named(s=CHEAP, t=DEAR), 1.5)]
)
def test_nonsense_is_refused(constituents, imperfection):
    with pytest.raises(ValueError, match=r"two constituents|between 0 and 1"):
        merge("m", constituents, imperfection)


def test_a_merger_goes_out_before_its_constituents_are_withdrawn():
    """P2-B10, R2."""
    mergers = Mergers()
    merger = merge("m", named(s=CHEAP, t=DEAR))
    assert mergers.add(merger) == Exchange(
        forward={SubscriptionId("m"): merger.filter},
        withdraw=(SubscriptionId("s"), SubscriptionId("t")),
    )
    assert mergers.constituents(merger.id) == ("s", "t")
    assert list(mergers) == [merger]


def test_a_constituent_that_goes_takes_the_merger_with_it():
    """P2-T10 (b): the merging broker forwards S2, and the removal of S3."""
    mergers = Mergers()
    constituents = named(S1=CHEAP, S2=DEAR)
    mergers.add(merge("S3", constituents))
    assert mergers.unsubscribe(SubscriptionId("S1")) == Exchange(
        forward={SubscriptionId("S2"): constituents[SubscriptionId("S2")]},
        withdraw=(SubscriptionId("S3"),),
    )
    assert len(mergers) == 0
    assert mergers.unsubscribe(SubscriptionId("S2")) == Exchange(
        forward={}, withdraw=(SubscriptionId("S2"),)
    )


def test_a_merger_is_cancelled_with_all_its_constituents():
    mergers = Mergers()
    constituents = named(s=CHEAP, t=DEAR)
    mergers.add(merge("m", constituents))
    assert mergers.cancel(SubscriptionId("m")).forward == constituents
    with pytest.raises(UnknownSubscriptionError):
        mergers.cancel(SubscriptionId("m"))


def test_a_merger_is_merged_again_by_its_originals():
    mergers = Mergers()
    first = merge("m", named(s=CHEAP, t=DEAR), imperfection=0.01)
    mergers.add(first)
    originals = {**first.constituents, **named(u="price < 10")}
    exchange = mergers.add(merge("n", originals))
    assert (list(exchange.forward), exchange.withdraw) == (["n"], ("m", "u"))
    assert [merger.id for merger in mergers] == ["n"]


def test_a_merger_that_stands_for_more_is_told_already():
    mergers = Mergers()
    first = merge("m", named(s="price < 20", t="price < 10"))
    mergers.add(first)
    more = replace(first, constituents=named(s="price < 20", t="price < 10", u="price < 5"))
    assert mergers.add(more) == Exchange(forward={}, withdraw=(SubscriptionId("u"),))
    assert mergers.unsubscribe(SubscriptionId("s")) == Exchange(
        forward=named(t="price < 10", u="price < 5"), withdraw=(SubscriptionId("m"),)
    )


def test_a_constituent_is_never_left_behind():
    mergers = Mergers()
    mergers.add(merge("m", named(s=CHEAP, t=DEAR)))
    with pytest.raises(ValueError, match="'t' is merged into 'm'"):
        mergers.add(merge("n", named(s=CHEAP, u="price < 10")))
    assert [merger.id for merger in mergers] == ["m"]


@given(
    st.lists(filters(small=True, max_leaves=4), min_size=2, max_size=4),
    st.floats(0, 1),
    st.lists(events(small=True), max_size=6),
    st.data(),
)
def test_a_merger_covers_its_constituents(originals, imperfection, seen, data):
    """Law 4, by the algebra and by the evaluator."""
    constituents = {SubscriptionId(str(place)): each for place, each in enumerate(originals)}
    selectivities = data.draw(shares_for(originals))
    merger = merged(SubscriptionId("m"), constituents, selectivities, imperfection=imperfection)
    for filter in originals:
        verdict = covers(merger.filter, filter)
        assume(not verdict.exhausted)
        assert verdict.holds
        for event in seen:
            assert merger.filter.accepts(event) or not filter.accepts(event)


class Life(RuleBasedStateMachine):
    """After each step a neighbour knows every subscription, or one that covers it."""

    def __init__(self) -> None:
        super().__init__()
        self.mergers = Mergers()
        self.subscriptions: dict[SubscriptionId, Filter] = {}
        self.told: dict[SubscriptionId, Filter] = {}
        self.numbers = iter(range(10_000))

    def tell(self, exchange: Exchange) -> None:
        self.told.update(exchange.forward)
        self.everything_is_told()
        for identifier in exchange.withdraw:
            del self.told[identifier]

    def new_id(self) -> SubscriptionId:
        return SubscriptionId(f"b:{next(self.numbers)}")

    @rule(bound=st.integers(1, 5), title=st.sampled_from(("Emma", "Ulysses")))
    def subscribe(self, bound: int, title: str) -> None:
        identifier = self.new_id()
        filter = parse(f"price < {bound} and title = '{title}'")
        self.subscriptions[identifier] = self.told[identifier] = filter

    @precondition(lambda self: len(self.told) > 1)
    @rule(data=st.data(), imperfection=st.sampled_from((0.0, 0.1, 1.0)))
    def merge(self, data: st.DataObject, imperfection: float) -> None:
        chosen = data.draw(st.lists(st.sampled_from(sorted(self.told)), min_size=2, unique=True))
        held = {merger.id: merger.constituents for merger in self.mergers}
        originals: dict[SubscriptionId, Filter] = {}
        for each in chosen:
            originals.update(held.get(each, {each: self.told[each]}))
        merger = merge(self.new_id(), originals, imperfection)
        same = [
            each for each in chosen if each in self.mergers and self.told[each] == merger.filter
        ]
        self.tell(self.mergers.add(replace(merger, id=same[0]) if same else merger))

    @precondition(lambda self: self.subscriptions)
    @rule(data=st.data())
    def unsubscribe(self, data: st.DataObject) -> None:
        gone = data.draw(st.sampled_from(sorted(self.subscriptions)))
        del self.subscriptions[gone]
        self.tell(self.mergers.unsubscribe(gone))

    @precondition(lambda self: len(self.mergers) > 0)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        self.tell(self.mergers.cancel(data.draw(st.sampled_from([m.id for m in self.mergers]))))

    @invariant()
    def everything_is_told(self) -> None:
        for name, filter in self.subscriptions.items():
            assert name in self.told or any(covers(told, filter) for told in self.told.values())

    @invariant()
    def nothing_is_told_that_is_neither_subscription_nor_merger(self) -> None:
        assert all(name in self.subscriptions or name in self.mergers for name in self.told)


TestLife = Life.TestCase
