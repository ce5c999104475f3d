"""Workloads: events, subscriptions and advertisements that a seed determines row by row.

Start at `auction`, the book auction that P1 and P3 measure with; `parameters` says what can be
varied in it and names the usual variants. `classes` holds the shapes of its filters,
`populations` fills them, `books` makes its events. `diverse` is its opposite, a thousand and
more shapes (`random_shapes`) over the 30 attributes of `attributes`; `unselective` is what
no index is made for; `pairs` are conjunctions for covering and merging (P2-X1). `protocol` says
what all workloads have in common. Underneath, `draws` turns seed, quantity and row number into
random numbers, so that any slice can be made anywhere, in any order.
"""

from boolcast.workloads.auction import Auction
from boolcast.workloads.books import BOOK_SCHEMA
from boolcast.workloads.classes import ADVERTISEMENT_CLASSES, CLASSES, SUBSCRIPTION_CLASSES
from boolcast.workloads.diverse import Diverse
from boolcast.workloads.pairs import PAIR_SETS, PairParameters, Pairs
from boolcast.workloads.parameters import PRESETS, AuctionParameters, Range
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
