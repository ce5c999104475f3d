"""The input of `boolcast demo spark`: a book auction in which some rows are malformed.

Events look as if from a message queue: a key, and the event as JSON.
"""

from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from boolcast.workloads import Auction, AuctionParameters

EVENT_SCHEMA: Final = "id string, value string"
CHANGE_SCHEMA: Final = "subscription string, filter string"

_BAD_SUBSCRIPTION_EVERY: Final = 1_000
_BAD_EVENT_EVERY: Final = 500
_EVENTS: Final = pa.schema([("id", pa.string()), ("value", pa.string())])

WATCHES: Final = {
    "watch-1": "condition = 'new' and price < 60",
    "watch-2": "special = 'signed' and price < 250",
    "watch-3": "special = 'first edition' and price < 120",
    "watch-4": "bids >= 4 and price > 500",
}
"""A subscription that each change adds, to be seen: it has matches from its version on."""
CHANGES: Final = len(WATCHES)
_BROKEN: Final = "price < 10 && condition = 'new'"

Change = tuple[str, str | None]
"""A row of `CHANGE_SCHEMA`: a null filter deletes."""


def auction(subscriptions: int, seed: int) -> "FlawedAuction":
    """An auction with about 8 matches per event for any number of subscriptions."""
    parameters = AuctionParameters(
        titles=subscriptions,
        authors=max(1, subscriptions // 10),
        categories=max(1, subscriptions // 80),
        zipf_exponent=0.7,
    )
    return FlawedAuction(parameters, seed=seed)


class FlawedAuction(Auction):
    """A book auction with a malformed subscription in every 1,000 and event in every 500."""

    def subscriptions(self, start: int, count: int) -> pa.Table:
        table = super().subscriptions(start, count)
        rows = np.arange(start, start + count)
        bad = np.flatnonzero(rows % _BAD_SUBSCRIPTION_EVERY == _BAD_SUBSCRIPTION_EVERY // 2)
        if not len(bad):
            return table
        columns = {name: table[name].to_pylist() for name in ("subscription", "filter")}
        for row in bad:
            kind = int(rows[row]) // _BAD_SUBSCRIPTION_EVERY
            good = (columns["subscription"][row], columns["filter"][row])
            columns["subscription"][row], columns["filter"][row] = _bad_subscription(kind, *good)
        for name, values in columns.items():
            at = table.schema.get_field_index(name)
            table = table.set_column(at, name, pa.array(values, pa.string()))
        return table

    def keyed_events(self, start: int, count: int) -> pa.Table:
        """Columns `id` and `value`, the event as JSON; both may be null."""
        encode = msgspec.json.encode
        ids: list[str | None] = [f"e{row}" for row in range(start, start + count)]
        rows = self.events(start, count).to_pylist()
        values: list[str | None] = [encode(row).decode() for row in rows]
        for row in range(count):
            kind, rest = divmod(start + row, _BAD_EVENT_EVERY)
            if rest == _BAD_EVENT_EVERY // 2:
                ids[row], values[row] = _bad_event(kind, ids[row], rows[row])
        return pa.Table.from_arrays([pa.array(ids), pa.array(values)], schema=_EVENTS)

    def changes(self, number: int, present: int, many: int) -> list[Change]:
        """The rows of a change; the first change has number 0.

        `many` subscriptions are new, as many get another filter, and as many are deleted. One
        filter is malformed. The last row is the watch of this change.
        """
        texts = super().subscriptions(present + 2 * number * many, 2 * many)["filter"].to_pylist()
        new = range(present + number * many, present + (number + 1) * many)
        first = 2 * number * many
        other, gone = range(first, first + many), range(first + many, first + 2 * many)
        return [
            *((f"s{row}", text) for row, text in zip(new, texts[:many], strict=True)),
            *((f"s{row}", text) for row, text in zip(other, texts[many:], strict=True)),
            *((f"s{row}", None) for row in gone),
            (f"s{present - 1 - number}", _BROKEN),
            list(WATCHES.items())[number],
        ]


def put_events(source: FlawedAuction, rows: range, folder: Path) -> None:
    """Add a file of events to a folder, atomically: Spark ignores names with a leading dot."""
    name = f"events-{rows.start:09}.parquet"
    partial = folder / f".{name}"
    pq.write_table(source.keyed_events(rows.start, len(rows)), partial)
    partial.rename(folder / name)


def slices(total: int, each: int) -> list[range]:
    """The rows from 0 to `total` in slices of `each`; the last may be shorter."""
    return [range(*pair) for pair in pairwise([*range(0, total, each), total])]


def _bad_subscription(kind: int, name: str, text: str) -> tuple[str | None, str | None]:
    match kind % 5:
        case 0:
            return name, f"{text} and"
        case 1:
            return name, text.replace(" and ", " && ", 1)
        case 2:
            return name, text.removesuffix(")")
        case 3:
            return None, text
        case _:
            return name, None


def _bad_event(kind: int, name: str | None, row: dict[str, Any]) -> tuple[str | None, str | None]:
    text = msgspec.json.encode(row).decode()
    match kind % 5:
        case 0:
            return name, text[: len(text) // 2]
        case 1:
            return name, f"[{row['price']}]"
        case 2:
            return None, text
        case 3:
            return name, None
        case _:
            return name, '{"item": {"price": 1}, "item.price": 2}'
