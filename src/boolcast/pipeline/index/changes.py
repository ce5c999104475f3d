"""What the rows of one bucket ask for, after conflicts between rows with the same id are settled.

Rows come in no order. So of several rows with one id, either all ask for the same, or an order
column says which is the last, or none is accepted.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

import pyarrow as pa

from boolcast.errors import FilterError
from boolcast.filters.limits import Limits
from boolcast.filters.parsing import parse

UPSERT: Final = "upsert"
DELETE: Final = "delete"


class Reject(NamedTuple):
    """A row that is not accepted, and why; `position` is an offset in the filter's text."""

    subscription: str | None
    filter: str | None
    error: str
    position: int | None = None


class Change(NamedTuple):
    """The change to an id: a filter's text, or None to delete it."""

    subscription: str
    filter: str | None


class Resolved(NamedTuple):
    """At most one change for each id, and what happened to all other rows."""

    changes: list[Change]
    rejects: list[Reject]
    duplicates: int
    superseded: int


def resolve(rows: pa.Table, limits: Limits) -> Resolved:
    """Choose one row for each id.

    Columns: `subscription`; `filter`; `superseded`, true if the row is not the last of its id;
    optionally `operation`, without which a null filter is rejected; and optionally `problem`, a
    reason to reject the row.
    """
    by_id: dict[str, Change | list[Change]] = {}
    rejects: list[Reject] = []
    superseded = 0
    for subscription, text, problem, is_superseded in _read(rows):
        if problem is not None or subscription is None:
            rejects.append(Reject(subscription, text, _NO_ID if problem is None else problem))
            continue
        if is_superseded:
            superseded += 1
            continue
        change = Change(subscription, text)
        known = by_id.get(subscription)
        if known is None:
            by_id[subscription] = change
        elif isinstance(known, list):
            known.append(change)
        else:
            by_id[subscription] = [known, change]
    changes: list[Change] = []
    duplicates = 0
    # Sorted, and of equal filters the least text: the result does not depend on the order of
    # rows, so that a segment that is built again has the same checksum.
    for subscription in sorted(by_id):
        each = by_id[subscription]
        if isinstance(each, Change):
            changes.append(each)
        elif _ask_for_the_same(each, limits):
            changes.append(min(each, key=lambda change: change.filter or ""))
            duplicates += len(each) - 1
        else:
            rejects += [_conflict(change, len(each)) for change in each]
    return Resolved(changes, rejects, duplicates, superseded)


_NO_ID: Final = "the subscription's id is null"
_NO_FILTER: Final = "the filter is null"


def _read(rows: pa.Table) -> Iterable[tuple[str | None, str | None, str | None, bool]]:
    """Id, filter (None for a deletion), what is wrong with the row, and `superseded`."""
    ids, id_problems = _strings(rows, "subscription")
    texts, text_problems = _strings(rows, "filter")
    operations: list[str | None] | None = None
    if "operation" in rows.column_names:
        operations, _ = _strings(rows, "operation")
    given: list[str | None] | None = None
    if "problem" in rows.column_names:
        given, _ = _strings(rows, "problem")
    superseded = rows.column("superseded").to_pylist()
    for row, (subscription, text) in enumerate(zip(ids, texts, strict=True)):
        operation = UPSERT if operations is None else operations[row]
        problem = id_problems.get(row) if given is None or given[row] is None else given[row]
        if problem is None and subscription is None:
            problem = _NO_ID
        if problem is None and operation not in (UPSERT, DELETE):
            problem = f"the operation must be '{UPSERT}' or '{DELETE}', not {operation!r}"
        if problem is None and operation == UPSERT:
            problem = _NO_FILTER if text is None else text_problems.get(row)
        is_deletion = operation == DELETE and problem is None
        yield subscription, None if is_deletion else text, problem, superseded[row]


def _strings(rows: pa.Table, name: str) -> tuple[list[str | None], dict[int, str]]:
    """A column of strings, and which of them are not UTF-8: Spark does not check."""
    column = rows.column(name)
    try:
        return column.to_pylist(), {}
    except UnicodeDecodeError:
        problems: dict[int, str] = {}
        strings: list[str | None] = []
        for row, value in enumerate(column.cast(pa.binary()).to_pylist()):
            text = None if value is None else value.decode(errors="replace")
            if text is not None and text.encode() != value:
                problems[row] = f"the {name} is not valid UTF-8"
            strings.append(text)
        return strings, problems


def _ask_for_the_same(changes: list[Change], limits: Limits) -> bool:
    """True if all are deletions, or all filters are equal as trees."""
    first, *others = {change.filter for change in changes}
    if not others:
        return True
    if first is None or None in others:
        return False
    try:
        tree = parse(first, limits=limits)
        return all(parse(str(other), limits=limits) == tree for other in others)
    except FilterError:
        return False


def _conflict(change: Change, rows: int) -> Reject:
    error = (
        f"{rows} rows have this id and differ: keep one of them "
        "(`build_index` and `boolcast index` can choose by an order column)"
    )
    return Reject(change.subscription, change.filter, error)
