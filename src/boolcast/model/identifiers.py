"""The names that things go by, kept apart by type."""

from typing import NewType

SubscriptionId = NewType("SubscriptionId", str)
"""Chosen by the subscriber; unique within one set of subscriptions. In a network of brokers it
is made by the subscriber's broker, unique in the whole network and never used again."""

AdvertisementId = NewType("AdvertisementId", str)
"""Made by the publisher's broker, unique in the whole network and never used again."""

PublicationId = NewType("PublicationId", str)
"""Chosen by the publisher, so that a repeat can be recognised; unique in the network."""

BrokerId = NewType("BrokerId", str)
"""A broker, and at its neighbours the link to it: there is at most one between two brokers."""

ClientId = NewType("ClientId", str)
"""A client of a broker; unique at that broker."""
