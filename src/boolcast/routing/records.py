"""What a broker keeps on its disk: enough to go on as if it had not stopped.

Statistics of publications are not kept: without history a removal goes everywhere (P4-E13).
"""

import msgspec

from boolcast.filters.expressions import Node
from boolcast.model.identifiers import AdvertisementId, BrokerId, ClientId, SubscriptionId


class CounterRecord(msgspec.Struct, frozen=True, tag="counter"):
    """The last number given to an advertisement, a subscription or an unsubscription."""

    number: int


class LinkRecord(msgspec.Struct, frozen=True, tag="link"):
    """How far the two sides of a link have told each other what they know."""

    link: BrokerId
    advertisements_sent: bool
    advertisements_received: bool
    subscriptions_sent: bool
    subscriptions_received: bool


class AdvertisementRecord(msgspec.Struct, frozen=True, tag="advertisement"):
    """An advertisement that came over a link, or from a client under a name."""

    advertisement: AdvertisementId
    filter: Node
    order: int
    link: BrokerId | None = None
    client: ClientId | None = None
    name: str = ""
    is_stale: bool = False


class SubscriptionRecord(msgspec.Struct, frozen=True, tag="subscription"):
    """A subscription that came over a link, or from a client under a name."""

    subscription: SubscriptionId
    filter: Node
    order: int
    link: BrokerId | None = None
    client: ClientId | None = None
    name: str = ""
    is_stale: bool = False


class ForwardedAdvertisementRecord(msgspec.Struct, frozen=True, tag="forwarded-advertisement"):
    """An advertisement that a neighbour holds from us."""

    link: BrokerId
    advertisement: AdvertisementId


class ForwardedSubscriptionRecord(msgspec.Struct, frozen=True, tag="forwarded-subscription"):
    """A subscription that a neighbour holds from us, in the form sent; perhaps a ghost."""

    link: BrokerId
    subscription: SubscriptionId
    filter: Node
    order: int
    is_ghost: bool = False


class RemovalRecord(msgspec.Struct, frozen=True, tag="removal"):
    """A removal that neighbours have yet to acknowledge, and who is waiting for it."""

    awaited: tuple[tuple[BrokerId, int], ...]
    link: BrokerId | None = None
    number: int = 0
    client: ClientId | None = None
    name: str = ""
    suspect_at: float = 0.0


Record = (
    CounterRecord
    | LinkRecord
    | AdvertisementRecord
    | SubscriptionRecord
    | ForwardedAdvertisementRecord
    | ForwardedSubscriptionRecord
    | RemovalRecord
)
