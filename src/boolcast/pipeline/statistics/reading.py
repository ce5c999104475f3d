"""Read what `write_statistics` wrote, without Spark: data for engines and optimisers."""

from collections.abc import Iterator
from typing import Any, cast

import fsspec
import msgspec
import pyarrow.dataset as ds

from boolcast.errors import FileError
from boolcast.model.sort_keys import sort_key
from boolcast.model.statistics import (
    AttributeStatistics,
    AttributeUse,
    Statistics,
    SubscriptionStatistics,
    ValueBin,
)
from boolcast.model.values import Kind, Value


class Totals(msgspec.Struct, frozen=True):
    """What was counted, and what could not be read; None for events if there were none."""

    events: int | None
    malformed_events: int | None
    subscriptions: int
    rejected_subscriptions: int


def read_totals(place: str) -> Totals:
    """The summary. Raises FileError if there are no statistics."""
    (summary,) = _rows(place, "summary")
    return Totals(**summary)


def read_statistics(place: str) -> Statistics:
    """Statistics of events, for `Matcher(statistics=…)` and `build_index`.

    The predicates are those of the subscriptions that were given with the events. Raises FileError
    if there are no statistics, or none of events.
    """
    events = read_totals(place).events
    if events is None:
        raise FileError("these are statistics of subscriptions only, not of events", path=place)
    bins = _bins(place)
    return Statistics(
        events=events,
        predicates={row["predicate"]: row["matches"] for row in _rows(place, "predicates")},
        attributes={
            row["attribute"]: AttributeStatistics(
                events=row["events"],
                kinds={Kind(kind): events for kind, events in row["kinds"]},
                bins=bins.get(row["attribute"], {}),
            )
            for row in _rows(place, "attributes")
            if row["events"] is not None
        },
    )


def read_subscription_statistics(place: str) -> SubscriptionStatistics:
    """Statistics of subscriptions (P2-B3). Raises FileError if there are none."""
    return SubscriptionStatistics(
        subscriptions=read_totals(place).subscriptions,
        predicates={row["predicate"]: row["subscriptions"] for row in _rows(place, "predicates")},
        attributes={
            row["attribute"]: AttributeUse(
                subscriptions=row["subscriptions"],
                predicates=row["predicates"],
                concentration=row["concentration"],
                companions=dict(row["companions"] or ()),
            )
            for row in _rows(place, "attributes")
            if row["subscriptions"] is not None
        },
    )


def _bins(place: str) -> dict[str, dict[Kind, tuple[ValueBin, ...]]]:
    """By attribute and kind, ascending."""
    found: dict[str, dict[Kind, list[ValueBin]]] = {}
    for row in _rows(place, "values"):
        low, high = (_value(row[name]) for name in ("low", "high"))
        one = ValueBin(low, high, row["events"], row["distinct"])
        found.setdefault(row["attribute"], {}).setdefault(Kind(row["kind"]), []).append(one)
    return {
        attribute: {
            kind: tuple(sorted(bins, key=lambda each: sort_key(each.low)))
            for kind, bins in by_kind.items()
        }
        for attribute, by_kind in found.items()
    }


def _value(text: str) -> Value:
    return cast("Value", msgspec.json.decode(text, type=Value))


def _rows(place: str, name: str) -> Iterator[dict[str, Any]]:
    """The rows of one folder, read a batch at a time."""
    try:
        filesystem, path = fsspec.core.url_to_fs(f"{place.rstrip('/')}/{name}")
        table = ds.dataset(path, filesystem=filesystem, format="parquet")
        for batch in table.to_batches():
            yield from batch.to_pylist()
    except FileNotFoundError:
        problem = "there are no statistics here; `write_statistics` creates them"
        raise FileError(problem, path=place) from None
