"""A neighbour that says anything: the broker never breaks, and serves everybody else."""

from hypothesis import given
from hypothesis import strategies as st

from boolcast.filters.expressions import TRUE
from boolcast.filters.parsing import parse
from boolcast.model.events import Event
from boolcast.model.identifiers import (
    AdvertisementId,
    BrokerId,
    ClientId,
    PublicationId,
    SubscriptionId,
)
from boolcast.routing.core.broker import Broker
from boolcast.routing.protocol.configuration import configure
from boolcast.routing.protocol.effects import Complain, Deliver, Refuse
from boolcast.routing.protocol.messages import (
    Acknowledge,
    Advertise,
    Message,
    PruningDistance,
    Publish,
    Subscribe,
    Synchronised,
    Unadvertise,
    Unsubscribe,
)
from boolcast.routing.protocol.stimuli import (
    ClientAdvertises,
    ClientPublishes,
    ClientSubscribes,
    ClientUnadvertises,
    ClientUnsubscribes,
    LinkDown,
    LinkUp,
    Received,
    Stimulus,
    TimerFired,
)
from boolcast.simulation.scenarios.histories import ALIKE
from tests.examples import examples
from tests.routing.histories import FILTERS, POLICIES, STATISTICS
from tests.routing.test_broker import tree

A, B, C = BrokerId("A"), BrokerId("B"), BrokerId("C")
ANN, PAT = ClientId("ann"), ClientId("pat")

# Its own ids, those of the broker that it talks to, given out or not, and those of others.
_IDS = st.sampled_from(
    ["A:1:1", "A:1:2", "A:1:3", "B:1:1", "B:1:2", "B:1:9", "B:2:1", "C:1:1", "", "é"]
)
_NUMBERS = st.integers(-2, 12)
_FILTERS = st.sampled_from([parse(text) for text in FILTERS] + list(ALIKE))
_EVENTS = st.builds(Event, x=st.integers(0, 5))
_SUBSCRIBES = st.builds(Subscribe, _IDS.map(SubscriptionId), _FILTERS)
_DISTANCES = st.none() | st.lists(
    st.builds(PruningDistance, _IDS.map(AdvertisementId), st.none() | _NUMBERS), max_size=3
).map(tuple)
MESSAGES: st.SearchStrategy[Message] = st.one_of(
    _SUBSCRIBES,
    st.builds(
        Unsubscribe,
        _NUMBERS,
        _IDS.map(SubscriptionId),
        _DISTANCES,
        st.lists(_SUBSCRIBES, max_size=3).map(tuple),
    ),
    st.builds(Advertise, _NUMBERS, _IDS.map(AdvertisementId), _FILTERS),
    st.builds(Unadvertise, _IDS.map(AdvertisementId)),
    st.builds(Acknowledge, _NUMBERS),
    st.builds(
        Publish,
        st.sampled_from(["e1", "e2"]).map(PublicationId),
        _IDS.map(AdvertisementId),
        _EVENTS,
        _NUMBERS,
        _NUMBERS,
        st.booleans(),
    ),
    st.builds(Synchronised, st.sampled_from(["advertisements", "subscriptions"])),
)
_NAMES = st.sampled_from(["one", "two"])
OTHERS: st.SearchStrategy[Stimulus] = st.one_of(
    st.builds(ClientSubscribes, st.just(ANN), _NAMES, _FILTERS),
    st.builds(ClientUnsubscribes, st.just(ANN), _NAMES),
    st.builds(ClientAdvertises, st.just(ANN), _NAMES, _FILTERS),
    st.builds(ClientUnadvertises, st.just(ANN), _NAMES),
    st.builds(LinkUp, st.just(A), st.booleans()),
    st.builds(LinkDown, st.just(A)),
    st.just(TimerFired("acknowledgements")),
    st.builds(Received, st.just(BrokerId("stranger")), MESSAGES),
    st.just(LinkUp(C)),
    st.builds(
        Received,
        st.just(C),
        st.builds(Publish, st.just(PublicationId("e")), st.just(AdvertisementId("C:1:1")), _EVENTS),
    ),
)


@examples(300)
@given(
    policy=st.sampled_from(POLICIES),
    stimuli=st.lists(st.one_of(st.builds(Received, st.just(A), MESSAGES), OTHERS), max_size=40),
)
def test_whatever_a_neighbour_says(policy, stimuli):
    configuration = configure({"engine": "scan", **policy})
    broker = Broker(B, configuration, neighbours=[A, C], statistics=STATISTICS)
    now = 0.0

    def handle(stimulus):
        nonlocal now
        now += 1.0
        effects = broker.handle(stimulus, now=now)
        broker.validate()
        for effect in effects:
            if isinstance(effect, Complain):
                assert effect.link in (A, "stranger"), "C did nothing wrong"
            if isinstance(effect, Refuse):
                assert effect.client == ANN, "the others asked for nothing wrong"
        return effects

    handle(LinkUp(A))
    handle(LinkUp(C))
    handle(Received(C, Synchronised("advertisements")))
    handle(Received(C, Advertise(1, AdvertisementId("C:1:1"), TRUE)))
    handle(Received(C, Subscribe(SubscriptionId("C:1:2"), TRUE)))
    handle(ClientAdvertises(PAT, "all", TRUE))
    handle(ClientSubscribes(PAT, "one", tree("x = 1")))
    # A has kept to the rules so far. Where removals are incremental, its first subscription
    # lives on towards C as a ghost, and quenches the second.
    handle(Received(A, Subscribe(SubscriptionId("A:1:1"), tree("x between 0 and 4"))))
    handle(Received(A, Subscribe(SubscriptionId("A:1:2"), tree("x between 2 and 3"))))
    ends_here = (PruningDistance(AdvertisementId("C:1:1"), 0),)
    handle(Received(A, Unsubscribe(1, SubscriptionId("A:1:1"), ends_here)))
    for stimulus in stimuli:
        handle(stimulus)
    # Clients here are served as before, and so is the neighbour that keeps to the rules.
    effects = handle(ClientPublishes(PAT, PublicationId("last"), Event(x=1)))
    served = [each for each in effects if isinstance(each, Deliver) and each.client == PAT]
    assert [each.subscriptions for each in served] == [("one",)]
    event = Publish(PublicationId("from C"), AdvertisementId("C:1:1"), Event(x=1))
    served = [each for each in handle(Received(C, event)) if isinstance(each, Deliver)]
    assert PAT in [each.client for each in served]
