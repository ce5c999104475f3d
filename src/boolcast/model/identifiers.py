"""Ids, each kind with a type of its own."""

from typing import NewType

from boolcast.errors import ArgumentError, SubscriptionIdError
from boolcast.model.values import is_well_formed

SubscriptionId = NewType("SubscriptionId", str)
"""Chosen by the subscriber; unique within one set of subscriptions. In a network of brokers it
is made by the subscriber's broker, unique in the whole network and never used again."""

AdvertisementId = NewType("AdvertisementId", str)
"""Made by the publisher's broker, unique in the whole network and never used again."""

PublicationId = NewType("PublicationId", str)
"""Chosen by the publisher, so that repeats are recognised; unique in the network."""

BrokerId = NewType("BrokerId", str)
"""A broker, and at its neighbours the link to it: there is at most one between two brokers."""

ClientId = NewType("ClientId", str)
"""A client of a broker; unique at that broker."""


def check_subscription_id(subscription: object) -> None:
    """Any string of characters may be an id. Raises SubscriptionIdError, or ArgumentError."""
    if not isinstance(subscription, str):
        raise ArgumentError("the id of a subscription is a string", subscription)
    if not is_well_formed(subscription):
        raise SubscriptionIdError(subscription)
