"""Events of the book auction: ten attributes (W1), distributed as W5 assumes."""

from collections.abc import Mapping
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from boolcast.model.schemas import Attribute, Schema
from boolcast.workloads.draws import (
    Draws,
    Rows,
    cumulative_shares,
    lognormal_quantiles,
    zipf_shares,
)
from boolcast.workloads.parameters import AuctionParameters

NUMBERED: Final = ("title", "author", "category")
"""The attributes whose values are numbered strings, such as `title 17`."""

_PRICE_SIGMA: Final = 0.8
_LONGEST_HOURS: Final = 168

# W5 fixes the shares of used, softcover, no bids, Buy-It-Now and signed; what the others are
# split into is ours. No filter class looks at it.
_SHARES: Final[Mapping[str, Mapping[str, float] | Mapping[int, float]]] = {
    "format": {"softcover": 0.6, "hardcover": 0.4},
    "condition": {"used": 0.8, "new": 0.2},
    "bids": {0: 0.97, 1: 0.01, 2: 0.008, 3: 0.006, 4: 0.004, 5: 0.002},
    "buyItNow": {0: 0.8, 1: 0.2},
    "special": {"none": 0.95, "first edition": 0.03, "signed": 0.02},
}
_VALUES: Final = {name: pa.array(list(shares)) for name, shares in _SHARES.items()}
_CUMULATIVE: Final = {
    name: cumulative_shares(list(shares.values())) for name, shares in _SHARES.items()
}

BOOK_SCHEMA: Final = Schema(
    attributes={
        "title": Attribute("string", required=True),
        "author": Attribute("string", required=True),
        "category": Attribute("string", required=True),
        "format": Attribute("string", values=tuple(_SHARES["format"]), required=True),
        "condition": Attribute("string", values=tuple(_SHARES["condition"]), required=True),
        "price": Attribute("number", integer=True, minimum=1, required=True),
        "ending": Attribute(
            "number", integer=True, minimum=0, maximum=_LONGEST_HOURS - 1, required=True
        ),
        "bids": Attribute("number", integer=True, minimum=0, required=True),
        "buyItNow": Attribute(
            "number", integer=True, values=tuple(_SHARES["buyItNow"]), required=True
        ),
        "special": Attribute("string", values=tuple(_SHARES["special"]), required=True),
    }
)
"""What every event of the auction conforms to: price in cents, ending in whole hours left."""

ARROW_SCHEMA: Final = pa.schema(
    [
        (name, pa.int64() if attribute.integer else pa.string())
        for name, attribute in BOOK_SCHEMA.attributes.items()
    ]
)
"""The same ten attributes as columns."""


def book_batch(draws: Draws, rows: Rows, parameters: AuctionParameters) -> pa.RecordBatch:
    """The events of these rows."""
    prices = lognormal_quantiles(parameters.price_median, _PRICE_SIGMA)
    columns = {
        "price": pa.array(draws.quantiles("event.price", rows, prices)),
        # 168 values from 0 on, so that `ending < 24` holds for one in seven.
        "ending": pa.array(draws.integers("event.ending", rows, 0, _LONGEST_HOURS - 1)),
    }
    for name in NUMBERED:
        columns[name] = labels(name, draw_numbers(draws, "event", name, rows, parameters))
    for name, values in _VALUES.items():
        picks = draws.picks(f"event.{name}", rows, _CUMULATIVE[name])
        columns[name] = values.take(pa.array(picks))
    return pa.record_batch([columns[name] for name in ARROW_SCHEMA.names], schema=ARROW_SCHEMA)


def draw_numbers(
    draws: Draws, population: str, attribute: str, rows: Rows, parameters: AuctionParameters
) -> NDArray[np.int64]:
    """The numbers of the titles, authors or categories that these rows name."""
    stream = f"{population}.{attribute}"
    if attribute == "title" and parameters.zipf_exponent is not None:
        shares = zipf_shares(parameters.titles, parameters.zipf_exponent)
        return draws.picks(stream, rows, shares)
    size = {
        "title": parameters.titles,
        "author": parameters.authors,
        "category": parameters.categories,
    }[attribute]
    return draws.integers(stream, rows, 0, size - 1)


def labels(attribute: str, numbers: NDArray[np.int64]) -> pa.StringArray:
    """Numbers as values of title, author or category, such as `title 17`."""
    return pc.binary_join_element_wise(f"{attribute} ", pa.array(numbers).cast(pa.string()), "")
