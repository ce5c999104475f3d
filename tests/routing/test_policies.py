"""Law 2: a routing policy may change traffic, never deliveries."""

from hypothesis import given
from hypothesis import strategies as st

from boolcast.routing.protocol.configuration import configure
from tests.routing.histories import FAULTY_HISTORIES, HISTORIES, POLICIES, Player

_POLICY = st.sampled_from(POLICIES)


@given(policy=_POLICY, history=HISTORIES)
def test_settled_subscriptions_get_every_event_once(policy, history):
    """P4-T9, for every policy and arbitrary Boolean filters, with events in flight."""
    (parents, beginning), steps = history
    player = Player(parents, configure({"engine": "scan", **policy}))
    player.play(beginning + steps)


@given(policy=_POLICY, history=FAULTY_HISTORIES)
def test_faults_lose_only_what_was_inside_a_broker_without_its_disk(policy, history):
    (parents, beginning), steps = history
    player = Player(parents, configure({"engine": "scan", "durable": True, **policy}))
    player.play(beginning + steps)
