"""A neighbour: what it must know, what it was told, and how far both sides are."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from boolcast.matching.relations.analysed_filters import AnalysedFilter
from boolcast.model.identifiers import BrokerId

if TYPE_CHECKING:
    from boolcast.routing.tables.covering_graph import Told


class Forwarded(NamedTuple):
    """A subscription that the neighbour holds from us, with the filter that was sent (R3).

    Nobody here asks for a *ghost* any more; the neighbour was left with it (P4-B6).
    """

    analysed: AnalysedFilter
    is_ghost: bool = False


class Neighbour:
    """One link, as the routing tables see it.

    `advertisements` and `subscriptions` hold what the neighbour must know, and which of that it is
    told. `forwarded` are the subscriptions it holds from us, Fwd(U) of F1. Until the link has come
    up once it is not open, and the neighbour gets only events. The four flags say which side has
    said everything in which stage of synchronisation. `unacknowledged` are the advertisements, by
    id, that the neighbour may not have answered with all its subscriptions yet.
    """

    def __init__(
        self,
        link: BrokerId,
        subscriptions: "Callable[[], Told]",
        advertisements: "Callable[[], Told]",
    ) -> None:
        self.link = link
        self._make_subscriptions = subscriptions
        self._make_advertisements = advertisements
        self.is_open = False
        self.reset()

    def reset(self) -> None:
        """The neighbour knows nothing, and nothing is known of it."""
        self.advertisements = self._make_advertisements()
        self.subscriptions = self._make_subscriptions()
        self.forwarded: dict[str, Forwarded] = {}
        self.forwarded_advertisements: dict[str, AnalysedFilter] = {}
        self.unacknowledged: dict[str, int] = {}
        self.advertisements_sent = False
        self.advertisements_received = False
        self.subscriptions_sent = False
        # Until it is known what the neighbour wants, it gets every event.
        self.subscriptions_received = False

    def may_want(self, advertisement: str) -> bool:
        """True if it is not known yet which events under the advertisement it wants."""
        if not self.subscriptions_received:
            return True
        # One that was not forwarded is covered by another, which may still be on its way.
        return bool(self.unacknowledged) and (
            advertisement in self.unacknowledged
            or advertisement not in self.forwarded_advertisements
        )

    def ghosts(self) -> list[str]:
        """The ghosts that the neighbour holds."""
        return [name for name, forwarded in self.forwarded.items() if forwarded.is_ghost]
