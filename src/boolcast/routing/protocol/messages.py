"""What brokers tell each other (F6): one tagged union, the same in memory and on the wire.

A link carries them in order, without loss or repetition (`protocol.links`). `protocol.encoding`
writes and reads the bytes.
"""

from typing import Literal

import msgspec

from boolcast.filters.expressions import Filter
from boolcast.model.events import Event
from boolcast.model.identifiers import AdvertisementId, PublicationId, SubscriptionId


class Advertise(msgspec.Struct, frozen=True, tag="advertise"):
    """A publisher behind the sender may publish what the filter accepts.

    `number` is what the answer quotes.
    """

    number: int
    advertisement: AdvertisementId
    filter: Filter


class Unadvertise(msgspec.Struct, frozen=True, tag="unadvertise"):
    """The advertisement no longer holds."""

    advertisement: AdvertisementId


class Subscribe(msgspec.Struct, frozen=True, tag="subscribe"):
    """The sender wants what the filter accepts; the filter is the one that was sent (R3)."""

    subscription: SubscriptionId
    filter: Filter


class PruningDistance(msgspec.Struct, frozen=True):
    """How many hops further towards an advertisement a subscription is to go (P4-B5)."""

    advertisement: AdvertisementId
    hops: int | None
    """None is without end."""


class Unsubscribe(msgspec.Struct, frozen=True, tag="unsubscribe"):
    """The sender no longer asks for the subscription.

    `number` is what the answer quotes. `distances` limits how far the removal travels (P4-B6);
    None is everywhere. `payload` holds subscriptions to be installed before the removal (P4-B3).
    """

    number: int
    subscription: SubscriptionId
    distances: tuple[PruningDistance, ...] | None = None
    payload: tuple[Subscribe, ...] = ()


class Acknowledge(msgspec.Struct, frozen=True, tag="acknowledge"):
    """What had that number has been carried out here and wherever it went on to."""

    number: int


class Publish(msgspec.Struct, frozen=True, tag="publish"):
    """An event on its way, with the header of P4-B4.

    `distance` is the number of hops since the last broker where another subscription wanted it
    too, `count` the number of such brokers. Both stay 0 where no policy asks for them.
    `everywhere`: it was held up by a link that was made anew. The tables on its way may have
    forgotten it since, or never known of it, so it goes to every broker.
    """

    publication: PublicationId
    advertisement: AdvertisementId
    event: Event
    distance: int = 0
    count: int = 0
    everywhere: bool = False


Stage = Literal["advertisements", "subscriptions"]


class Synchronised(msgspec.Struct, frozen=True, tag="synchronised"):
    """The sender has said again all that the receiver must know of this stage.

    What it said before the link was made anew and did not repeat no longer holds.
    """

    stage: Stage


Message = Advertise | Unadvertise | Subscribe | Unsubscribe | Acknowledge | Publish | Synchronised
