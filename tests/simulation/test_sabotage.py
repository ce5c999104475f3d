"""The checker finds brokers that are broken on purpose: each line is an idea that must hold."""

from unittest.mock import patch

import pytest

from boolcast.routing import advertising, subscribing, synchronising
from boolcast.routing.graph import Change, RelationGraph
from boolcast.routing.links import LinkEnd
from boolcast.routing.messages import Publish, Subscribe, Unsubscribe
from boolcast.routing.neighbours import Neighbour
from boolcast.routing.unsubscription import Separately
from boolcast.simulation.plans import Plan
from boolcast.simulation.runs import outcome_of

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


@pytest.mark.parametrize(
    ("target", "name", "broken", "choice"),
    [
        (Neighbour, "may_want", lambda self, advertisement: False, {}),
        (Separately, "wrap", break_before_make, {"policy": "active"}),
        (RelationGraph, "remove", never_uncover, {"policy": "active"}),
        (LinkEnd, "_begin_anew", forget_held_up_events, {"faults": "amnesia:12"}),
        (LinkEnd, "_begin_anew", keep_held_up_events_to_themselves, {"faults": "amnesia:12"}),
        (LinkEnd, "_arm", lambda self: None, {"faults": "loss"}),
        (synchronising, "_tell_all", lambda state, neighbour: None, {"faults": "amnesia"}),
        (advertising, "await_answers", lambda state, entry, operation: None, {}),
        (subscribing, "keep_subscription", lambda state, entry: None, {"faults": "crash:8"}),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_broker_is_found(target, name, broken, choice):
    with patch.object(target, name, broken):
        assert first_failure(range(400), **choice) is not None
    assert first_failure(range(3), **choice) is None
