"""What a broker wants done, in this order. Simulator and network are two interpreters of it.

`Persist` comes before everything else in a list: it must be durable before the rest is done, so
that nobody has been told what a broker with its disk would not know any more.
"""

from typing import Literal

import msgspec

from boolcast.errors import InputError
from boolcast.model.events import Event
from boolcast.model.identifiers import BrokerId, ClientId, PublicationId
from boolcast.optimising.pruning.stopping import MissedTarget
from boolcast.optimising.statistics.selectivities import Knowledge
from boolcast.routing.protocol.messages import Message
from boolcast.routing.protocol.records import Record


class Persist(msgspec.Struct, frozen=True):
    """Keep the record under the key in place of what is there; None: keep nothing."""

    key: str
    record: Record | None


class Send(msgspec.Struct, frozen=True):
    """Send a message to a neighbour, in order. Where the link is down it waits."""

    link: BrokerId
    message: Message


class Deliver(msgspec.Struct, frozen=True):
    """Give an event to a client, once for all its subscriptions that accept it, by its names."""

    client: ClientId
    publication: PublicationId
    event: Event
    subscriptions: tuple[str, ...]


class Confirm(msgspec.Struct, frozen=True):
    """Tell a client that its subscription is gone wherever its removal had to go."""

    client: ClientId
    subscription: str


class Refuse(msgspec.Struct, frozen=True):
    """Tell a client that what it asked for was not done, and why."""

    client: ClientId
    error: InputError


class Complain(msgspec.Struct, frozen=True):
    """Tell a neighbour that it broke the protocol; what it said was ignored."""

    link: BrokerId
    error: InputError


class Suspect(msgspec.Struct, frozen=True):
    """Tell the operator that a neighbour has not acknowledged for too long (P2-B8)."""

    link: BrokerId
    number: int


class ReviewReport(msgspec.Struct, frozen=True, kw_only=True):
    """Tell the operator how entries of neighbours stand after a review (`routing.core.reviewing`).

    `rewritten` of the `entries` are matched by simpler filters. That saves `removed` predicates,
    and an expected share `false_positives` of all events passes for nothing. `mergers` stand for
    `constituents` more subscriptions. `knowledge` says how well predicates are known, `problem` why
    no more was rewritten although the settings ask for it, `missed` which memory target was missed.

    `pruned_advertisements` of neighbours are tested for overlaps with `removed_from_advertisements`
    fewer predicates, which loses the share `lost_rank` of what they ruled out.
    `advertisement_problem` and `missed_by_advertisements` are `problem` and `missed` for them.
    """

    entries: int
    rewritten: int
    removed: int
    false_positives: float
    mergers: int
    constituents: int
    knowledge: Knowledge
    problem: InputError | None = None
    missed: MissedTarget | None = None
    pruned_advertisements: int = 0
    removed_from_advertisements: int = 0
    lost_rank: float = 0.0
    advertisement_problem: InputError | None = None
    missed_by_advertisements: MissedTarget | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What an operator should know in any case."""
        found = []
        if self.problem is not None:
            found.append(f"nothing more was rewritten: {self.problem}")
        if self.advertisement_problem is not None:
            found.append(f"no more advertisements were pruned: {self.advertisement_problem}")
        if self.missed is not None:
            found.append(f"rewriting: {self.missed}")
        if self.missed_by_advertisements is not None:
            found.append(f"pruning advertisements: {self.missed_by_advertisements}")
        if self.knowledge.guess:
            found.append(str(self.knowledge))
        return tuple(found)

    def __str__(self) -> str:
        return f"{self._of_subscriptions()}{self._of_advertisements()}"

    def _of_advertisements(self) -> str:
        if self.advertisement_problem is not None:
            return f"; no more advertisements were pruned: {self.advertisement_problem}"
        if not self.pruned_advertisements:
            return _missed(self.missed_by_advertisements)
        return (
            f"; {self.pruned_advertisements:,} advertisements of neighbours are pruned, which saves"
            f" {self.removed_from_advertisements:,} predicates and gives up {self.lost_rank:.2%} of"
            f" what they ruled out{_missed(self.missed_by_advertisements)}"
        )

    def _of_subscriptions(self) -> str:
        if self.problem is not None:
            return f"nothing more was rewritten: {self.problem}"
        return (
            f"{self.rewritten:,} of {self.entries:,} entries of neighbours are rewritten, which"
            f" saves {self.removed:,} predicates and lets an expected {self.false_positives:.2%}"
            f" of events pass for nothing{_missed(self.missed)}; {self.mergers:,} stand for"
            f" {self.constituents:,} others; {self.knowledge}"
        )


def _missed(missed: MissedTarget | None) -> str:
    return "" if missed is None else f"; {missed}"


class SetTimer(msgspec.Struct, frozen=True):
    """Fire the timer at that time; an earlier setting of the same timer no longer counts."""

    timer: Literal["acknowledgements"]
    at: float


Effect = Persist | Send | Deliver | Confirm | Refuse | Complain | Suspect | ReviewReport | SetTimer
