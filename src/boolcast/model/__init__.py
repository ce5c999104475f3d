"""Values, events, schemas, identifiers and statistics: the nouns that every room shares.

Events come in as Python objects, JSON or Arrow tables. A value has one of four kinds (boolean,
number, string, timestamp), or is opaque, of no kind (`values`). Nested objects become dotted
names, and missing values disappear: an `Event` is a flat dict of converted values (`events`).
From then on nothing is converted again.

A `Schema` says which attributes events have and of which kind; it is optional. `Statistics`
is what history says about events. `sort_keys` turns values into bytes that sort alike.
`arrow` is not imported here, because it imports pyarrow.
"""

from boolcast.model.events import Event, conforms
from boolcast.model.identifiers import SubscriptionId
from boolcast.model.schemas import Attribute, Schema
from boolcast.model.statistics import AttributeStatistics, Statistics, ValueBin
from boolcast.model.values import (
    CONVERSIONS,
    Conversion,
    EventValue,
    Kind,
    Opaque,
    Timestamp,
    Value,
    kind_of,
    value_from_python,
)

__all__ = [
    "CONVERSIONS",
    "Attribute",
    "AttributeStatistics",
    "Conversion",
    "Event",
    "EventValue",
    "Kind",
    "Opaque",
    "Schema",
    "Statistics",
    "SubscriptionId",
    "Timestamp",
    "Value",
    "ValueBin",
    "conforms",
    "kind_of",
    "value_from_python",
]
