"""What a broker keeps on its disk: enough to go on as if it had not stopped.

Statistics of publications are not kept: without history a removal goes everywhere (P4-E13).
"""

import msgspec

from boolcast.filters.expressions import Filter
from boolcast.model.identifiers import AdvertisementId, BrokerId, ClientId, SubscriptionId


class CounterRecord(msgspec.Struct, frozen=True, tag="counter"):
    """The last number given to what carries one, and to what came after what."""

    number: int
    order: int


class LinkRecord(msgspec.Struct, frozen=True, tag="link"):
    """How far the two sides of a link have told each other what they know."""

    link: BrokerId
    is_open: bool
    advertisements_sent: bool
    advertisements_received: bool
    subscriptions_sent: bool
    subscriptions_received: bool


class AdvertisementRecord(msgspec.Struct, frozen=True, tag="advertisement"):
    """An advertisement that came over a link, or from a client under a name.

    `held` is the filter that overlaps are tested with, if it is another one.
    """

    advertisement: AdvertisementId
    filter: Filter
    order: int
    link: BrokerId | None = None
    client: ClientId | None = None
    name: str = ""
    is_stale: bool = False
    held: Filter | None = None


class SubscriptionRecord(msgspec.Struct, frozen=True, tag="subscription"):
    """A subscription that came over a link, or from a client under a name.

    `sent` is the filter for neighbours, if it is another one. `constituents` are those of a
    merger that this broker has made.
    """

    subscription: SubscriptionId
    filter: Filter
    order: int
    link: BrokerId | None = None
    client: ClientId | None = None
    name: str = ""
    is_stale: bool = False
    sent: Filter | None = None
    constituents: tuple[SubscriptionId, ...] = ()


class ForwardedAdvertisementRecord(msgspec.Struct, frozen=True, tag="forwarded-advertisement"):
    """An advertisement that a neighbour holds from us; 0 if it has acknowledged it."""

    link: BrokerId
    advertisement: AdvertisementId
    filter: Filter
    unacknowledged: int


class ForwardedSubscriptionRecord(msgspec.Struct, frozen=True, tag="forwarded-subscription"):
    """A subscription that a neighbour holds from us, as it was sent; perhaps a ghost."""

    link: BrokerId
    subscription: SubscriptionId
    filter: Filter
    is_ghost: bool = False


class OperationRecord(msgspec.Struct, frozen=True, tag="operation"):
    """An advertisement or removal that neighbours have yet to acknowledge, and who waits for it."""

    key: int
    deadline: float
    awaited: tuple[tuple[BrokerId, int], ...]
    waiting: tuple[tuple[BrokerId, int], ...] = ()
    client: ClientId | None = None
    name: str = ""
    advertisement: str = ""


Record = (
    CounterRecord
    | LinkRecord
    | AdvertisementRecord
    | SubscriptionRecord
    | ForwardedAdvertisementRecord
    | ForwardedSubscriptionRecord
    | OperationRecord
)
