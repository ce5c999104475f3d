"""Workloads: events, subscriptions and advertisements that a seed determines row by row.

A workload is a function of its parameters, a seed and a row number (`draws`): any slice can be
made anywhere, in any order, and two machines make the same rows. It gives events as Arrow
tables and filters as trees or, in bulk, as texts; `protocol` says what all have in common.

Start at `auction`, the book auction that P1 and P3 measure with; `classes` holds the shapes of
its filters and what can be varied. `diverse` is its opposite: 1,500 random shapes over 30
attributes. `unselective` holds filters that no index is made for, `pairs` conjunctions for
covering and merging (P2-X1).
"""

from boolcast.workloads.auction import BOOK_SCHEMA, Auction
from boolcast.workloads.classes import (
    ADVERTISEMENT_CLASSES,
    CLASSES,
    PRESETS,
    SUBSCRIPTION_CLASSES,
    AuctionParameters,
    Range,
)
from boolcast.workloads.diverse import Diverse
from boolcast.workloads.pairs import PAIR_SETS, PairParameters, Pairs
from boolcast.workloads.protocol import Workload
from boolcast.workloads.unselective import Unselective

__all__ = [
    "ADVERTISEMENT_CLASSES",
    "BOOK_SCHEMA",
    "CLASSES",
    "PAIR_SETS",
    "PRESETS",
    "SUBSCRIPTION_CLASSES",
    "Auction",
    "AuctionParameters",
    "Diverse",
    "PairParameters",
    "Pairs",
    "Range",
    "Unselective",
    "Workload",
]
