"""Content-based publish/subscribe: every event reaches the subscribers whose filter accepts it.

Start with `parse`, which reads a filter such as `title = 'Harry Potter' and price < 25`.
`Filter.accepts` and `explain` apply it to an event. `covers`, `overlaps`, `equivalent`,
`disjoint`, `simplify` and `lint` prove things about it. `Matcher` holds many filters and finds
those that accept an event. Each of them takes a filter as text too.
"""

from typing import TYPE_CHECKING

from boolcast import errors
from boolcast.algebra import (
    Verdict,
    covers,
    disjoint,
    equivalent,
    lint,
    overlaps,
    simplify,
)
from boolcast.filters.evaluation import explain
from boolcast.filters.expressions import Filter
from boolcast.filters.parsing import parse
from boolcast.model import Schema, Timestamp

if TYPE_CHECKING:
    from boolcast.matching.matcher import Matcher

__version__ = "0.1.0"

__all__ = [
    "Filter",
    "Matcher",
    "Schema",
    "Timestamp",
    "Verdict",
    "__version__",
    "covers",
    "disjoint",
    "equivalent",
    "errors",
    "explain",
    "lint",
    "overlaps",
    "parse",
    "simplify",
]


def __getattr__(name: str) -> object:
    """Import the matcher on first use: it brings numpy and pyarrow with it."""
    if name == "Matcher":
        from boolcast.matching.matcher import Matcher  # noqa: PLC0415

        return Matcher
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
