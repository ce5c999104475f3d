"""Equal filters, whatever their spelling, are kept once for all subscriptions that hold them.

Two filters of one shape with the same bounds accept the same events. For residuals the bounds do
not say everything, so filters with a residual are equal only if their texts are.
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
    """What a segment is made of: filters by slot, and their subscriptions."""

    groups: list[RankedGroup]
    subscribers: FilterSubscribers
    texts: StringColumn
    residuals: dict[int, Filter]


def without_duplicates(content: Content) -> Content:
    """The same filters, equal ones only once, with the text of the first."""
    groups, subscribers, texts, residuals = content
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
            renumbered[stands_for][subscribers.slots()],
            int(is_kept.sum()),
            subscribers.sequence,
            subscribers.subscriptions.array,
        ),
        StringColumn(texts.array.take(pa.array(np.flatnonzero(is_kept)))),
        {int(renumbered[slot]): filter for slot, filter in residuals.items()},
    )


def are_equal(text: str, other: str, limits: Limits) -> bool:
    """True if two filters are certainly kept as one; a malformed text equals itself.

    False for numbers in different spellings, such as 1 and 1.0: most questions are about
    filters with different numbers, and this answers them without parsing.
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
    """The first of equal filters; `stands_for` maps the slots of the others to its slot."""
    if group.shape.has_residual:
        return group
    rows = np.zeros((len(group.slots), 1), dtype=np.int32)
    first, which = number_rows(np.concatenate([rows, *group.bounds], axis=1))
    if len(first) == len(group.slots):
        return group
    slots = group.slots[first]
    stands_for[group.slots] = slots[which]
    return RankedGroup(group.shape, slots, [bounds[first] for bounds in group.bounds])
