"""The filter classes of the book auction: three of subscriptions, eight of advertisements.

The shapes are those of W2, children in its order, so that level-order node numbers are the
ones that P3 quotes. A shape is itself a filter; where a row puts a constant of its own stands
a *slot*, a string that begins with `$`. What W2 leaves open is as it recommends: format is
the outer factor, softcover the first format. Which example price belongs to which leaf is
not known either: here new is dearer than used, and hardcover dearer than softcover.
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
