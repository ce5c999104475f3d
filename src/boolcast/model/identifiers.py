"""The names that things go by, kept apart by type."""

from typing import NewType

SubscriptionId = NewType("SubscriptionId", str)
"""Chosen by the subscriber; unique within one set of subscriptions."""
