"""The checker, told what happened by hand."""

import pytest

from boolcast.filters.parsing import parse
from boolcast.model.events import Event
from boolcast.model.identifiers import BrokerId, ClientId, PublicationId
from boolcast.simulation.judging.checker import Checker, Violation

A, B = BrokerId("A"), BrokerId("B")
C, P = ClientId("c"), ClientId("p")


class Story:
    """A checker that hears a story line by line, a second each."""

    def __init__(self) -> None:
        self.checker = Checker()
        self.time = 0.0
        self.events: dict[str, Event] = {}

    def tell(self, *lines: str) -> "Story":
        for line in lines:
            self.time += 1.0
            word, _, rest = line.partition(" ")
            getattr(self, word)(*rest.split())
        return self

    def advertise(self, name: str, *filter: str) -> None:
        self.checker.advertises(self.time, A, P, name, parse(" ".join(filter)))

    def unadvertise(self, name: str) -> None:
        self.checker.unadvertises(self.time, A, P, name)

    def subscribe(self, name: str, *filter: str) -> None:
        self.checker.subscribes(self.time, B, C, name, parse(" ".join(filter)))

    def unsubscribe(self, name: str) -> None:
        self.checker.unsubscribes(self.time, B, C, name)

    def confirm(self, name: str) -> None:
        self.checker.confirms(self.time, B, C, name)

    def ask(self, name: str, x: str) -> None:
        self.events[name] = Event(x=int(x))
        self.checker.publishes(self.time, A, P, PublicationId(name), self.events[name])

    def accept(self, name: str) -> None:
        self.checker.accepts(self.time, A, PublicationId(name))

    def refuse(self, name: str) -> None:
        self.checker.refuses(self.time, A, PublicationId(name))

    def publish(self, name: str, x: str) -> None:
        self.ask(name, x)
        self.accept(name)

    def deliver(self, publication: str, name: str) -> None:
        event = self.events.get(publication, Event())
        self.checker.delivers(self.time, B, C, PublicationId(publication), event, (name,))

    def calm(self) -> None:
        self.checker.calms(self.time)

    def rest(self) -> None:
        self.checker.calms(self.time)
        self.checker.rests(self.time)

    def crash(self, broker: str, *lost: str) -> None:
        names = [PublicationId(name) for name in lost]
        self.checker.crashes(self.time, BrokerId(broker), names, with_disk=False)

    def reboot(self, broker: str) -> None:
        self.checker.crashes(self.time, BrokerId(broker), [], with_disk=True)

    def kinds(self) -> list[str]:
        return [each.kind for each in self.checker.verdict().violations]


ADVERTISED = ["advertise a true"]
SETTLED = [*ADVERTISED, "subscribe s x > 5", "calm"]
REPEATED = ["reboot A", "deliver e s"]
ASKED_TWICE = ["subscribe s x > 5", "subscribe s x > 5"]
AT_REST = ["rest", "subscribe s x > 5"]
LATE = ["rest", "subscribe t x > 5"]
AGAIN = ["subscribe s x > 5", "publish e 9"]
WORD, REFUSED = "unconfirmed", "refused although advertised"
ENDED = ["unsubscribe s", "confirm s"]


@pytest.mark.parametrize(
    ("lines", "kinds"),
    [
        (["publish e 9", "deliver e s", "rest"], []),
        (["publish e 9", "rest"], ["missing"]),
        (["publish e 1", "rest"], []),
        (["publish e 1", "deliver e s"], ["unwanted"]),
        (["publish e 9", "deliver e s", "deliver e s"], ["repeated"]),
        (["publish e 9", "deliver e s", "reboot A", "deliver e s"], []),
        (["reboot A", "publish e 9", "deliver e s", "deliver e s"], ["repeated"]),
        (["publish e 9", "publish f 8", "deliver f s", "deliver e s"], ["out of order"]),
        (["publish e 9", "publish f 8", "deliver e s", "deliver f s", *REPEATED], []),
        (["deliver e s"], ["unknown"]),
        (["publish e 9", "deliver e t", "deliver e s"], ["unknown"]),
        # In flux: the end is asked for before all is at rest again.
        (["publish e 9", "calm", *ENDED, "rest"], []),
        (["publish e 9", "rest", *ENDED], ["missing"]),
        (["publish e 9", "unsubscribe s", "deliver e s", "confirm s"], []),
        (["publish e 9", "unsubscribe s", "confirm s", "deliver e s"], ["after its end"]),
        (["unsubscribe s", "publish e 9", "deliver e s", "confirm s"], []),
        (["unsubscribe s", "rest", "publish e 9", "deliver e s", "confirm s"], ["after its end"]),
        (["unsubscribe s", "ask e 9", "rest", "accept e", "deliver e s"], ["after its end", WORD]),
        # Asked for again: one of the two times must fit.
        ([*ENDED, "rest", "subscribe s x > 5", "publish e 9", "deliver e s"], []),
        ([*ENDED, "publish e 9", "subscribe s x > 5", "deliver e s"], []),
        ([*ENDED, "rest", "publish e 9", *AT_REST, "deliver e s"], ["after its end"]),
        # An event from before all was at rest is none for a new subscription.
        (["publish e 9", "deliver e s", "subscribe t x > 5", "deliver e t", "rest"], []),
        (["publish e 9", "deliver e s", *LATE, "deliver e t"], ["before its beginning"]),
        (["ask e 9", *LATE, "deliver e t"], ["before its beginning"]),
        # Unless it comes again to a broker that has forgotten it.
        (["publish e 9", "deliver e s", "crash B", *LATE, "deliver e t"], []),
        (["publish e 9", "deliver e s", "crash A", *LATE, "deliver e t"], ["before its beginning"]),
        (
            ["publish e 9", "deliver e s", "reboot B", *LATE, "deliver e t"],
            ["before its beginning"],
        ),
        (["crash B", *AGAIN, "deliver e s", *LATE, "deliver e t"], ["before its beginning"]),
        # Every end is confirmed, but by a broker that has forgotten it.
        (["unsubscribe s", "rest"], [WORD]),
        (["unsubscribe t", "confirm t", "rest"], []),
        (["unsubscribe s", "reboot B", "rest"], [WORD]),
        (["unsubscribe s", "crash A", "rest"], [WORD]),
        (["unsubscribe s", "crash B", "rest"], []),
        (["crash B", "subscribe s x > 5", "unsubscribe s", "rest"], []),
        (["crash B", "subscribe s x > 5", "rest", "unsubscribe s", "rest"], [WORD]),
        # What was advertised is taken, and nothing else.
        (["ask e 1", "refuse e"], ["refused although advertised"]),
        (["unadvertise a", "ask e 9", "refuse e", "rest"], []),
        (["unadvertise a", "ask e 9", "refuse e", "deliver e s"], ["unwanted"]),
        (["unadvertise a", "publish e 1"], ["accepted although unadvertised"]),
        (["unadvertise a", "advertise b x > 5", "publish e 5"], ["accepted although unadvertised"]),
        (["unadvertise a", "advertise b x > 5", "ask e 6", "refuse e"], [REFUSED]),
        (["crash A", "ask e 9", "unadvertise a", "refuse e"], []),
        (["crash A", "advertise a true", "rest", "ask e 9", "refuse e"], [REFUSED]),
        (["subscribe t x > 6", "publish e 9", "deliver e s"], []),
        (["subscribe t x > 6", "calm", "publish e 9", "deliver e s"], ["missing"]),
        # Never accepted, so nothing is due; but it may have come out.
        (["ask e 9", "rest"], []),
        (["ask e 9", "deliver e s", "rest"], []),
        # A broker without its disk: what was inside is exempt, and its clients begin anew.
        (["publish e 9", "crash A e", "rest"], []),
        (["publish e 9", "crash A", "rest"], ["missing"]),
        (["publish e 9", "crash B", "rest"], []),
        (["crash B", "subscribe s x > 5", "publish e 9", "rest"], []),
        (["crash B", "subscribe s x > 5", "calm", "publish e 9", "rest"], ["missing"]),
        (["crash B", *ASKED_TWICE, *ENDED, "calm", "publish e 9", "rest"], []),
    ],
)
def test_what_is_wrong(lines, kinds):
    assert Story().tell(*SETTLED, *lines).kinds() == kinds


def test_a_subscription_that_is_not_settled_may_or_may_not_get_an_event():
    for line in ("rest", "deliver e s"):
        story = Story().tell(*ADVERTISED, "subscribe s x > 5", "publish e 9", line)
        assert story.kinds() == []


def test_a_verdict_counts():
    story = Story().tell(*SETTLED, "publish e 9", "deliver e s", "publish f 9", "crash A f")
    verdict = story.checker.verdict()
    assert verdict
    assert (verdict.publications, verdict.deliveries, verdict.settled, verdict.lost) == (2, 1, 1, 1)


def test_of_too_many_events_a_share_is_held_against_all_subscriptions():
    story = Story()
    story.checker = Checker(evaluations=10)
    story.tell(*SETTLED, *(f"publish e{number} 9" for number in range(40)))
    verdict = story.checker.verdict()
    assert verdict.evaluated == 10
    assert verdict.count == 10


def test_the_share_is_drawn_so_that_what_fails_by_turns_is_seen():
    story = Story()
    story.checker = Checker(evaluations=20)
    lines = [
        line
        for number in range(40)
        for line in (f"publish e{number} 9", *([] if number % 2 else [f"deliver e{number} s"]))
    ]
    verdict = story.tell(*SETTLED, *lines).checker.verdict()
    assert verdict.evaluated == 20
    assert 0 < verdict.count < 20


def test_a_violation_is_told_in_words():
    subscriber = (B, C, "s")
    assert str(Violation("missing", subscriber, PublicationId("e"), 2.0)) == (
        "missing: e for s of c at B, 2.000 s"
    )
    assert str(Violation("unconfirmed", subscriber, None, 2.0)) == (
        "unconfirmed: s of c at B, 2.000 s"
    )
    assert str(Violation("refused although advertised", None, PublicationId("e"), 2.0)) == (
        "refused although advertised: e, 2.000 s"
    )
