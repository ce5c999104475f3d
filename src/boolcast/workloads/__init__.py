"""Workloads: events, subscriptions and advertisements that a seed determines row by row.

Start at `auction`, the book auction that P1 and P3 measure with; `parameters` says what can be
varied in it and names the usual variants. `classes` holds the shapes of its filters,
`populations` fills them, `books` makes its events. Underneath, `draws` turns seed, quantity
and row number into random numbers, so that any slice can be made anywhere, in any order.
"""

from boolcast.workloads.auction import Auction
from boolcast.workloads.books import BOOK_SCHEMA
from boolcast.workloads.classes import ADVERTISEMENT_CLASSES, CLASSES, SUBSCRIPTION_CLASSES
from boolcast.workloads.parameters import PRESETS, AuctionParameters, Range

__all__ = [
    "ADVERTISEMENT_CLASSES",
    "BOOK_SCHEMA",
    "CLASSES",
    "PRESETS",
    "SUBSCRIPTION_CLASSES",
    "Auction",
    "AuctionParameters",
    "Range",
]
