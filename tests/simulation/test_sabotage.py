"""The checker finds brokers that are broken on purpose: each line is an idea that must hold."""

from collections.abc import Sequence
from unittest.mock import patch

import pytest

from boolcast.errors import ProtocolError, UnadvertisedError
from boolcast.filters.expressions import FALSE
from boolcast.matching.relations.analysed_filters import AnalysedFilter, FilterAnalyser
from boolcast.model.identifiers import SubscriptionId
from boolcast.model.statistics import Statistics
from boolcast.optimising.merging.mergers import Merger
from boolcast.optimising.pruning import trees
from boolcast.optimising.pruning.pre_pruning import pre_prune
from boolcast.optimising.statistics.estimates import EstimateRules
from boolcast.optimising.statistics.selectivities import Selectivities
from boolcast.routing.core import forwarding, synchronising
from boolcast.routing.core.broker import Broker
from boolcast.routing.core.persistence import KeptJournal
from boolcast.routing.core.state import State
from boolcast.routing.policies.propagation import TowardsAdvertisements
from boolcast.routing.policies.unsubscription import Separately
from boolcast.routing.protocol.effects import Complain, Confirm, Deliver, Effect, Refuse, Send
from boolcast.routing.protocol.links import LinkEnd
from boolcast.routing.protocol.messages import Publish, Subscribe, Unsubscribe
from boolcast.routing.protocol.stimuli import (
    ClientPublishes,
    ClientSubscribes,
    ClientUnsubscribes,
    Received,
    Stimulus,
)
from boolcast.routing.rewriting.merging import MergingByPruning
from boolcast.routing.tables.covering_graph import Change, RelationGraph
from boolcast.routing.tables.entries import Entry
from boolcast.routing.tables.neighbours import Neighbour
from boolcast.simulation.runs import outcome_of
from boolcast.simulation.scenarios.plans import Plan

pytestmark = pytest.mark.slow


def first_failure(seeds: range, **choice: str) -> int | None:
    for seed in seeds:
        if not outcome_of(Plan(seed=seed, engine="scan", **choice)).is_right:  # type: ignore[arg-type]
            return seed
    return None


def break_before_make(self: Separately, removal: Unsubscribe, uncovered: tuple[Subscribe, ...]):
    return [removal, *uncovered]


def never_uncover(self: RelationGraph, name: str) -> Change:
    change = REMOVE(self, name)
    return Change([], change.withdraw)


REMOVE = RelationGraph.remove


def forget_held_up_events(self: LinkEnd, peer: int) -> None:
    BEGIN_ANEW(self, peer)
    self.waiting.clear()


def keep_held_up_events_to_themselves(self: LinkEnd, peer: int) -> None:
    before = [each for each in self.waiting if isinstance(each, Publish)]
    BEGIN_ANEW(self, peer)
    self.waiting.clear()
    self.waiting.extend(before)


BEGIN_ANEW = LinkEnd._begin_anew

PRUNING = "rewriting=pruning,reviews.events=1"
MERGING = "covering=none,merging=pruning,merging.imperfection=0.5,merging.size=3,reviews.events=1"
ADVERTISEMENTS = "covering=none,advertisement_rewriting=pruning,reviews.events=1"
SENDING = "covering=active,sending=pruned,sending.degradation=0.5"


def merge_into_the_first(self, constituents, selectivities, new_id):
    """A merger that does not cover all that it stands for."""
    return Merger(
        id=SubscriptionId(new_id()),
        filter=next(iter(constituents.values())),
        constituents=constituents,
        imperfection=0.0,
        operations=0,
    )


def prune_what_clients_asked_for(self: State, entry: Entry) -> None:
    """R1 broken."""
    TAKE_UP(self, entry)
    filter = pre_prune(entry.analysed.filter, Selectivities(Statistics(events=0)))
    self.engine.add(entry.id, filter)


TAKE_UP = State.index


def tell_the_whole_filter(self: State, neighbour: Neighbour, subscription: str) -> AnalysedFilter:
    """R3 broken: covering goes by the filter to be sent, and another is sent."""
    return self.wanted_filter(neighbour, subscription)


def prune_an_alternative(
    is_and: bool, parts: Sequence[trees.Tree], rules: EstimateRules
) -> trees.Tree:
    """P1-B4 broken: a child of an OR is lost."""
    return JOINED(is_and, parts if is_and else parts[:-1] or parts, rules)


JOINED = trees._joined


def hold_what_overlaps_with_nothing(
    self: TowardsAdvertisements, entry: Entry, form: AnalysedFilter
) -> None:
    """R8 broken: what replaces an advertisement does not cover it."""
    HOLD(self, entry, FilterAnalyser().analyse(FALSE))


HOLD = TowardsAdvertisements.hold_advertisement


HANDLE = Broker.handle


def ignore_unsubscriptions(self: Broker, stimulus: Stimulus, *, now: float) -> list[Effect]:
    return [] if type(stimulus) is ClientUnsubscribes else HANDLE(self, stimulus, now=now)


def ignore_unsubscriptions_and_say_otherwise(
    self: Broker, stimulus: Stimulus, *, now: float
) -> list[Effect]:
    if type(stimulus) is ClientUnsubscribes:
        return [Confirm(stimulus.client, stimulus.subscription)]
    return HANDLE(self, stimulus, now=now)


def never_confirm(self: Broker, stimulus: Stimulus, *, now: float) -> list[Effect]:
    effects = HANDLE(self, stimulus, now=now)
    return [effect for effect in effects if type(effect) is not Confirm]


def refuse_by_turns(self: Broker, stimulus: Stimulus, *, now: float) -> list[Effect]:
    if type(stimulus) is ClientPublishes and stimulus.publication[-1] in "13579":
        return [Refuse(stimulus.client, UnadvertisedError(stimulus.publication))]
    return HANDLE(self, stimulus, now=now)


def refuse_nothing(self: Broker, stimulus: Stimulus, *, now: float) -> list[Effect]:
    effects = HANDLE(self, stimulus, now=now)
    return [effect for effect in effects if type(effect) is not Refuse]


def replay_old_events(self: Broker, stimulus: Stimulus, *, now: float) -> list[Effect]:
    """Give a new subscription the last event that it accepts, however old."""
    effects = HANDLE(self, stimulus, now=now)
    old = self.__dict__.setdefault("old", [])
    if type(stimulus) is ClientPublishes:
        old.append(stimulus)
    elif type(stimulus) is Received and type(stimulus.message) is Publish:
        old.append(stimulus.message)
    elif type(stimulus) is ClientSubscribes:
        client, name = stimulus.client, stimulus.subscription
        found = [each for each in old if stimulus.filter.accepts(each.event)][-1:]
        effects += [Deliver(client, each.publication, each.event, (name,)) for each in found]
    return effects


def complain_of_all(self: Broker, stimulus: Stimulus, *, now: float) -> list[Effect]:
    effects = HANDLE(self, stimulus, now=now)
    sent = [effect for effect in effects if type(effect) is Send]
    return [*effects, *(Complain(each.link, ProtocolError("you!")) for each in sent)]


@pytest.mark.parametrize(
    ("target", "name", "broken", "choice"),
    [
        (Neighbour, "may_want", lambda self, advertisement: False, {}),
        (Separately, "wrap", break_before_make, {"policy": "active"}),
        (RelationGraph, "remove", never_uncover, {"policy": "active"}),
        (LinkEnd, "_begin_anew", forget_held_up_events, {"faults": "amnesia:12"}),
        (LinkEnd, "_begin_anew", keep_held_up_events_to_themselves, {"faults": "amnesia:12"}),
        (LinkEnd, "_arm", lambda self: None, {"faults": "loss"}),
        (synchronising, "tell_all", lambda state, neighbour: None, {"faults": "amnesia"}),
        (forwarding, "await_answers", lambda state, entry, operation: None, {}),
        (Broker, "handle", ignore_unsubscriptions, {"faults": "none"}),
        (Broker, "handle", ignore_unsubscriptions_and_say_otherwise, {"faults": "none"}),
        (Broker, "handle", never_confirm, {}),
        (Broker, "handle", refuse_by_turns, {}),
        (Broker, "handle", refuse_nothing, {}),
        (Broker, "handle", replay_old_events, {}),
        (Broker, "handle", complain_of_all, {}),
        (KeptJournal, "keep_subscription", lambda self, entry: None, {"faults": "crash:8"}),
        (MergingByPruning, "_merged", merge_into_the_first, {"policy": MERGING}),
        (State, "index", prune_what_clients_asked_for, {"policy": "pruning"}),
        (State, "told_filter", tell_the_whole_filter, {"policy": SENDING}),
        (trees, "_joined", prune_an_alternative, {"policy": PRUNING}),
        (
            TowardsAdvertisements,
            "hold_advertisement",
            hold_what_overlaps_with_nothing,
            {"policy": ADVERTISEMENTS},
        ),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_broker_is_found(target, name, broken, choice):
    with patch.object(target, name, broken):
        assert first_failure(range(400), **choice) is not None
    assert first_failure(range(3), **choice) is None
