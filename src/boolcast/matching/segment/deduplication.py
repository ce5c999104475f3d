"""Filters that are equal, whatever their spelling: each is kept once, for all who hold it.

Of one shape and with the same bounds, two filters accept the same events. Only of a residual
the bounds do not say all, so filters with one are equal where their texts are.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from boolcast.errors import FilterError
from boolcast.filters.expressions import Filter
from boolcast.filters.limits import Limits
from boolcast.filters.parsing import parse
from boolcast.matching.segment.filter_subscribers import FilterSubscribers
from boolcast.matching.segment.literal_templates import split
from boolcast.matching.segment.strings import StringColumn
from boolcast.matching.values.array_operations import number_rows
from boolcast.matching.values.columns import RankedGroup
from boolcast.matching.values.shapes import take_apart


class Content(NamedTuple):
    """What a segment is made of: filters by slot, and who holds them."""

    groups: list[RankedGroup]
    holders: FilterSubscribers
    texts: StringColumn
    residuals: dict[int, Filter]


def without_duplicates(content: Content) -> Content:
    """The same filters, those that are equal only once, with the text of the first of them."""
    groups, holders, texts, residuals = content
    slots = np.arange(len(texts), dtype=np.int32)
    stands_for = slots.copy()
    kept_groups = [_without_duplicates(group, stands_for) for group in groups]
    is_kept = stands_for == slots
    if is_kept.all():
        return content
    renumbered = (np.cumsum(is_kept) - 1).astype(np.int32)
    return Content(
        [RankedGroup(each.shape, renumbered[each.slots], each.bounds) for each in kept_groups],
        FilterSubscribers.sorted(
            renumbered[stands_for][holders.slots()],
            int(is_kept.sum()),
            holders.sequence,
            holders.subscriptions.array,
        ),
        StringColumn(texts.array.take(pa.array(np.flatnonzero(is_kept)))),
        {int(renumbered[slot]): filter for slot, filter in residuals.items()},
    )


def are_equal(text: str, other: str, limits: Limits) -> bool:
    """True if two filters would surely be kept as one; a text that is no filter equals itself.

    Where a number is spelt otherwise, as 1 and 1.0, nobody looks further: what is asked most
    is whether one of two filters with other numbers is new.
    """
    if text == other:
        return True
    if split(text)[1] != split(other)[1]:
        return False
    try:
        parts, other_parts = (take_apart(parse(each, limits=limits)) for each in (text, other))
    except FilterError:
        return False
    return parts == other_parts and (parts is None or not parts[0].has_residual)


def _without_duplicates(group: RankedGroup, stands_for: NDArray[np.int32]) -> RankedGroup:
    """The first of equal filters; the slots of the others get its slot in `stands_for`."""
    if group.shape.has_residual:
        return group
    rows = np.zeros((len(group.slots), 1), dtype=np.int32)
    first, which = number_rows(np.concatenate([rows, *group.bounds], axis=1))
    if len(first) == len(group.slots):
        return group
    slots = group.slots[first]
    stands_for[group.slots] = slots[which]
    return RankedGroup(group.shape, slots, [bounds[first] for bounds in group.bounds])
