"""Values, events, schemas, identifiers and statistics: the nouns that every room shares.

Start at `values` (the kinds and how they compare), then `conversions` (what Python, JSON
and Arrow values become), `events` and `schemas`. `statistics` is what history has taught,
as data. `json_faults` says why a text is not JSON. `arrow` is imported by those who need it,
because it imports pyarrow.
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
