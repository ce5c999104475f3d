"""What observers of a simulation hear: what clients did and got, and what brokers sent."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from boolcast.filters.expressions import Filter
from boolcast.model.events import Event
from boolcast.model.identifiers import BrokerId, ClientId, PublicationId
from boolcast.routing.protocol.effects import Effect

if TYPE_CHECKING:
    from boolcast.simulation.network.broker_process import Job, Step


class Observer:
    """Hears everything, in order, and does nothing; `time` is virtual."""

    def advertises(
        self, time: float, broker: BrokerId, client: ClientId, name: str, filter: Filter
    ) -> None:
        """A client says what it will publish, perhaps again because its broker has lost it."""

    def unadvertises(self, time: float, broker: BrokerId, client: ClientId, name: str) -> None:
        """A client takes that back."""

    def subscribes(
        self, time: float, broker: BrokerId, client: ClientId, name: str, filter: Filter
    ) -> None:
        """A client asks for a subscription, perhaps again because its broker has lost it."""

    def unsubscribes(self, time: float, broker: BrokerId, client: ClientId, name: str) -> None:
        """A client asks for the end of a subscription."""

    def confirms(self, time: float, broker: BrokerId, client: ClientId, name: str) -> None:
        """A client hears that its subscription is gone."""

    def publishes(
        self,
        time: float,
        broker: BrokerId,
        client: ClientId,
        publication: PublicationId,
        event: Event,
    ) -> None:
        """A client asks for a publication."""

    def accepts(self, time: float, broker: BrokerId, publication: PublicationId) -> None:
        """The publisher's broker has taken it and will see to it."""

    def refuses(self, time: float, broker: BrokerId, publication: PublicationId) -> None:
        """The publisher's broker will not."""

    def delivers(
        self,
        time: float,
        broker: BrokerId,
        client: ClientId,
        publication: PublicationId,
        event: Event,
        names: tuple[str, ...],
    ) -> None:
        """A client gets an event, for these of its subscriptions."""

    def crashes(
        self, time: float, broker: BrokerId, lost: Iterable[PublicationId], *, with_disk: bool
    ) -> None:
        """A broker is gone, and these events were inside it."""

    def calms(self, time: float) -> None:
        """No control message is on its way."""

    def rests(self, time: float) -> None:
        """Nothing at all is on its way."""

    def steps(self, time: float, broker: BrokerId, job: "Job", step: "Step") -> None:
        """A broker has done a job."""

    def remarks(self, time: float, broker: BrokerId, effect: Effect) -> None:
        """A broker refuses something, complains or suspects."""


def hearers(observers: Iterable[Observer], name: str) -> list[Callable[..., Any]]:
    """The methods of that name, of those observers that have one of their own.

    What nobody listens to costs nothing that way.
    """
    return [
        getattr(each, name)
        for each in observers
        if getattr(type(each), name) is not getattr(Observer, name)
    ]
