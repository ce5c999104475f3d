"""Events by enumeration: an independent judge of what the algebra says about small filters."""

from collections.abc import Iterator
from itertools import islice, product
from typing import Final

from boolcast.filters.expressions import Filter
from boolcast.model.events import Event
from boolcast.model.values import EventValue
from tests.strategies import SMALL_DOMAIN

STRINGS: Final = tuple(
    "".join(letters) for length in range(4) for letters in product("abc", repeat=length)
)
DOMAIN: Final[tuple[EventValue | None, ...]] = (
    *(value for value in SMALL_DOMAIN if not isinstance(value, str)),
    "A",
    *STRINGS,
)
EVENTS_TRIED: Final = 4_000


def events(*filters: Filter) -> Iterator[Event]:
    """Every combination of small values, in an order that varies all attributes early."""
    names = sorted({name for filter in filters for name in filter.attributes()})
    combinations = product(DOMAIN, repeat=len(names))
    size = len(DOMAIN) ** len(names)
    step = max(1, size // EVENTS_TRIED)
    for values in islice(combinations, 0, None, step if step % 2 else step + 1):
        yield Event(
            {name: value for name, value in zip(names, values, strict=True) if value is not None}
        )
