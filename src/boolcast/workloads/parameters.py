"""What can be varied in the book auction, with the calibrated values of W5 as defaults."""

from collections.abc import Mapping
from typing import Final

import msgspec

from boolcast.workloads.classes import (
    ADVERTISEMENT_CLASSES,
    SUBSCRIPTION_CLASSES,
    AdvertisementClass,
    SubscriptionClass,
)


class Range(msgspec.Struct, frozen=True):
    """Whole numbers from `low` to `high`, both included, all equally likely."""

    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(f"the range {self.low} to {self.high} is empty")


class AuctionParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How events, subscriptions and advertisements are drawn; prices are in cents.

    `titles` should grow with the subscriptions, one to two for each of them. With a
    `zipf_exponent` s the k-th title has a share in proportion to k⁻ˢ in events and filters
    alike; otherwise titles are uniform, as authors and categories always are. `ending_bound`
    is where the filters' `ending < …` comes from, in hours. With `example_prices` the prices
    in filters are those of the papers' examples (W2) instead of drawn ones.
    `subscription_classes` and `advertisement_classes` are mixed in equal shares; one that is
    listed twice has two.
    """

    titles: int = 200_000
    authors: int = 20_000
    categories: int = 100
    zipf_exponent: float | None = None
    price_median: int = 300
    ending_bound: Range = Range(24, 24)
    example_prices: bool = False
    s1_maximum: Range = Range(200, 1150)
    s2_maximum: Range = Range(200, 2600)
    advertised_minimum: Range = Range(600, 3900)
    advertised_minimum_hardcover: Range = Range(900, 4200)
    advertised_minimum_branch: Range = Range(1100, 4400)
    subscription_classes: tuple[SubscriptionClass, ...] = SUBSCRIPTION_CLASSES
    advertisement_classes: tuple[AdvertisementClass, ...] = ADVERTISEMENT_CLASSES

    def __post_init__(self) -> None:
        if min(self.titles, self.authors, self.categories, self.price_median) < 1:
            raise ValueError("titles, authors, categories and the median price start at 1")
        if not self.subscription_classes or not self.advertisement_classes:
            raise ValueError("a mix needs at least one class")


PRESETS: Final[Mapping[str, AuctionParameters]] = {
    # The benchmarks' four; they set `titles` to the number of subscriptions.
    "auction": AuctionParameters(),
    "auction-zipf": AuctionParameters(zipf_exponent=0.8),
    "auction-random": AuctionParameters(zipf_exponent=0.8, ending_bound=Range(1, 167)),
    "fixed": AuctionParameters(example_prices=True),
    # The papers' runs, by W5, with 200,000 (P1) and 100,000 (P3) subscriptions.
    "P1": AuctionParameters(titles=400_000, categories=2_500, price_median=600),
    "P3": AuctionParameters(titles=100_000),
}
"""The workloads that have a name."""
