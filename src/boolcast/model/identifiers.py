"""The names that things go by, kept apart by type."""

from typing import NewType

from boolcast.errors import SubscriptionIdError, UsageError
from boolcast.model.values import is_well_formed

SubscriptionId = NewType("SubscriptionId", str)
"""Chosen by the subscriber; unique within one set of subscriptions."""


def check_subscription_id(subscription: object) -> None:
    """Any string of characters may be an id. Raises SubscriptionIdError, or UsageError."""
    if not isinstance(subscription, str):
        raise UsageError(
            f"the id of a subscription is a string, and this is a {type(subscription).__name__}"
        )
    if not is_well_formed(subscription):
        raise SubscriptionIdError(subscription)
