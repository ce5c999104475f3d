"""The filter classes of the book auction, and what can be varied in it.

There are three classes of subscriptions and eight of advertisements.

The shapes are those of W2, children in its order, so that level-order node numbers are the
ones that P3 quotes. A shape is itself a filter. A *slot*, a string that begins with `$`,
marks where a row puts a constant of its own. What W2 leaves open is as it recommends: format is
the outer factor, softcover the first format. Which example price belongs to which leaf is
not known either: here new is dearer than used, and hardcover dearer than softcover.

The parameters have the calibrated values of W5 as defaults.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal, get_args

import msgspec

from boolcast.filters.expressions import And, Comparison, Filter, Or
from boolcast.filters.parsing import parse
from boolcast.model.values import Value

SubscriptionClass = Literal["S1", "S2", "S3"]
AdvertisementClass = Literal["A1", "A2", "A3", "A4", "A5", "A6", "A7", "A8"]
SUBSCRIPTION_CLASSES: Final[tuple[SubscriptionClass, ...]] = get_args(SubscriptionClass)
ADVERTISEMENT_CLASSES: Final[tuple[AdvertisementClass, ...]] = get_args(AdvertisementClass)

PRUNINGS: Final[Mapping[str, int]] = {
    "S1": 4,
    "S2": 8,
    "S3": 3,
    "A1": 3,
    "A2": 3,
    "A3": 3,
    "A4": 3,
    "A5": 7,
    "A6": 2,
    "A7": 2,
    "A8": 6,
}
"""How many prunings exhaust a filter of each class (P1-T8, W4)."""

PriceLaw = Literal[
    "advertised_minimum",
    "advertised_minimum_hardcover",
    "advertised_minimum_branch",
    "s1_maximum",
    "s2_maximum",
]
"""The fields of `AuctionParameters` that say from which range a price is drawn."""

_SLOT: Final = re.compile(r"'\$(\w+)'")


class PriceSlot(msgspec.Struct, frozen=True):
    """A price that is drawn anew for each leaf, and the one of the papers' example, in cents."""

    law: PriceLaw
    example: int


class FilterClass(msgspec.Struct, frozen=True):
    """A shape, and how the prices in it are drawn; the other slots are named by attribute."""

    shape: Filter
    prices: Mapping[str, PriceSlot] = {}

    def pieces(self) -> list[str]:
        """The shape's text cut at its slots: text, slot, text, …, slot, text.

        >>> CLASSES["A2"].pieces()[-2:]
        ['author', '']
        """
        return _SLOT.split(str(self.shape))

    def fill(self, constants: Mapping[str, Value]) -> Filter:
        """The shape with a constant in each slot."""
        return _filled(self.shape, constants)


def _filled(node: Filter, constants: Mapping[str, Value]) -> Filter:
    match node:
        case And(children):
            return And(tuple(_filled(child, constants) for child in children))
        case Or(children):
            return Or(tuple(_filled(child, constants) for child in children))
        case Comparison(attribute, operator, value):
            if isinstance(value, str) and value.startswith("$"):
                return Comparison(attribute, operator, constants[value[1:]])
            return node
    raise AssertionError(f"no part of a shape: {node}")


CLASSES: Final[Mapping[str, FilterClass]] = {
    "S1": FilterClass(
        parse(
            "title = '$title' and ending < '$ending' and ("
            "condition = 'new' and price < '$new' or price < '$used' and condition = 'used')"
        ),
        {"new": PriceSlot("s1_maximum", 2000), "used": PriceSlot("s1_maximum", 1500)},
    ),
    "S2": FilterClass(
        parse(
            "title = '$title' and ending < '$ending' and ("
            "(condition = 'new' and price < '$new_softcover'"
            " or price < '$used_softcover' and condition = 'used') and format = 'softcover'"
            " or format = 'hardcover' and (condition = 'new' and price < '$new_hardcover'"
            " or price < '$used_hardcover' and condition = 'used'))"
        ),
        {
            "new_softcover": PriceSlot("s2_maximum", 1500),
            "used_softcover": PriceSlot("s2_maximum", 1000),
            "new_hardcover": PriceSlot("s2_maximum", 2500),
            "used_hardcover": PriceSlot("s2_maximum", 2000),
        },
    ),
    "S3": FilterClass(
        parse(
            "(author = '$author' or category = '$category') and ("
            "special = 'signed' and buyItNow = 1"
            " or ending < '$ending' and (special = 'signed' or bids = 0))"
        )
    ),
    "A1": FilterClass(
        parse(
            "(buyItNow = 1 and price > '$buy_it_now' or price > '$signed' and special = 'signed')"
            " and category = '$category'"
        ),
        {
            "buy_it_now": PriceSlot("advertised_minimum_branch", 1000),
            "signed": PriceSlot("advertised_minimum_branch", 1750),
        },
    ),
    "A2": FilterClass(
        parse(
            "(buyItNow = 1 and price > '$buy_it_now' or price > '$signed' and special = 'signed')"
            " and author = '$author'"
        ),
        {
            "buy_it_now": PriceSlot("advertised_minimum_branch", 1000),
            "signed": PriceSlot("advertised_minimum_branch", 1750),
        },
    ),
    "A3": FilterClass(
        parse(
            "(condition = 'used' and price > '$used' or price > '$new' and condition = 'new')"
            " and title = '$title'"
        ),
        {
            "used": PriceSlot("advertised_minimum", 1000),
            "new": PriceSlot("advertised_minimum", 1750),
        },
    ),
    "A4": FilterClass(
        parse(
            "(format = 'hardcover' and price > '$hardcover'"
            " or price > '$softcover' and format = 'softcover') and title = '$title'"
        ),
        {
            "hardcover": PriceSlot("advertised_minimum_hardcover", 2000),
            "softcover": PriceSlot("advertised_minimum", 1750),
        },
    ),
    "A5": FilterClass(
        parse(
            "title = '$title' and ("
            "(condition = 'new' and price > '$new_softcover'"
            " or price > '$used_softcover' and condition = 'used') and format = 'softcover'"
            " or (condition = 'new' and price > '$new_hardcover'"
            " or price > '$used_hardcover' and condition = 'used') and format = 'hardcover')"
        ),
        {
            "new_softcover": PriceSlot("advertised_minimum", 1500),
            "used_softcover": PriceSlot("advertised_minimum", 1250),
            "new_hardcover": PriceSlot("advertised_minimum_hardcover", 2000),
            "used_hardcover": PriceSlot("advertised_minimum_hardcover", 1750),
        },
    ),
    "A6": FilterClass(
        parse("condition = 'used' and price > '$used' or price > '$new' and condition = 'new'"),
        {
            "used": PriceSlot("advertised_minimum", 1000),
            "new": PriceSlot("advertised_minimum", 1750),
        },
    ),
    "A7": FilterClass(
        parse(
            "format = 'hardcover' and price > '$hardcover'"
            " or price > '$softcover' and format = 'softcover'"
        ),
        {
            "hardcover": PriceSlot("advertised_minimum_hardcover", 2000),
            "softcover": PriceSlot("advertised_minimum", 1750),
        },
    ),
    "A8": FilterClass(
        parse(
            "(condition = 'new' and price > '$new_softcover'"
            " or price > '$used_softcover' and condition = 'used') and format = 'softcover'"
            " or format = 'hardcover' and (condition = 'new' and price > '$new_hardcover'"
            " or price > '$used_hardcover' and condition = 'used')"
        ),
        {
            "new_softcover": PriceSlot("advertised_minimum", 1500),
            "used_softcover": PriceSlot("advertised_minimum", 1250),
            "new_hardcover": PriceSlot("advertised_minimum_hardcover", 2000),
            "used_hardcover": PriceSlot("advertised_minimum_hardcover", 1750),
        },
    ),
}
"""Every class by its name in W2."""


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
