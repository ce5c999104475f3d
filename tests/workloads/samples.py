"""Filters of one class."""

from typing import Any

from boolcast.filters.expressions import Filter
from boolcast.workloads import Auction, AuctionParameters


def filters_of(name: str, count: int, **parameters: Any) -> list[Filter]:
    """The first filters of an auction that has only this class."""
    if name.startswith("S"):
        parameters["subscription_classes"] = (name,)
        return list(Auction(AuctionParameters(**parameters), seed=4).subscription_filters(0, count))
    parameters["advertisement_classes"] = (name,)
    return list(Auction(AuctionParameters(**parameters), seed=4).advertisement_filters(0, count))
