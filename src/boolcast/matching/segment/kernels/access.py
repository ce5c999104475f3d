"""Candidates, their programs, and the matches of a run of events.

All arrays are as `matching.values.segments` describes them. Nothing is allocated, and nothing is
reset between events: `memo` and `seen` hold stamps that grow by one with each event.

A program is short-circuit code: each test jumps, by its outcome, to another position counted from
the program's start. The position behind the last test means true, the one after that false. A
residual test counts as true, and a true outcome is then only pending. The loop that runs a
program is inlined: as a function it took half as long again, because numba counts references to
the arrays. Indices are unsigned, so that numba does not check for negative ones.
"""

from collections.abc import Callable
from typing import Any

import numba as nb
import numpy as np
from numpy.typing import NDArray

from boolcast.matching.values.kernels.compiling import compiled, kernel, renamed, short_kernel
from boolcast.matching.values.segments import ANY_ONE, ANY_TEXT, INTERVAL, INTERVALS, PATTERN

Array = NDArray[Any]

FALSE = 0
TRUE = 1
PENDING = 2
"""Only the reference evaluator can decide."""


@kernel
def match_events(
    first: int,
    ranks: Array,
    texts: Array,
    text_offsets: Array,
    text_columns: Array,
    level_masks: Array,
    level_bases: Array,
    offsets: Array,
    groups: Array,
    members: Array,
    starts: Array,
    code: Array,
    list_starts: Array,
    list_bounds: Array,
    pattern_starts: Array,
    pattern_elements: Array,
    dead_since: Array,
    version: int,
    has_dead: bool,
    memo: Array,
    seen: Array,
    stamp: int,
    out_events: Array,
    out_positions: Array,
    out_outcomes: Array,
) -> tuple[int, int, int, int]:
    """Matches of events from `first` on, until all are done or the output is full.

    Returns (next event, matches written, programs run, last stamp used). Where not even one
    event fits, the next event is `first` again. An event costs a look at one node for each
    attribute and level with postings, one run of each program met there, and its matches.
    """
    count = ranks.shape[0]
    attributes = ranks.shape[1]
    capacity = out_events.shape[0]
    written = 0
    candidates = 0
    event = first
    while event < count:
        stamp += 1
        row = np.uint64(event)
        begun = written
        full = False
        for attribute in range(attributes):
            rank = ranks[event, attribute]
            mask = level_masks[attribute]
            level = 0
            while mask != 0:
                if mask & 1:
                    node = level_bases[attribute, level] + (rank >> level)
                    for group in range(offsets[node], offsets[node + 1]):
                        start = groups[group, 2]
                        end = groups[group + 1, 2]
                        shared = groups[group, 3] >> 1
                        outcome = TRUE
                        if groups[group, 0] < groups[group, 1]:
                            if shared > 0 and memo[shared] >> 2 == stamp:
                                outcome = memo[shared] & 3
                            else:
                                candidates += 1
                                code_start = np.uint64(groups[group, 0])
                                length = np.uint64(groups[group, 1]) - code_start
                                at = np.uint64(0)
                                pending = False
                                while at < length:
                                    where = code_start + at
                                    op = code[where, 0] & 3
                                    tested = np.uint64(code[where, 0] >> 2)
                                    value = ranks[row, tested]
                                    if op == INTERVAL:
                                        holds = code[where, 1] <= value < code[where, 2]
                                    elif op == INTERVALS:
                                        holds = lies_in_list(
                                            value, list_starts, list_bounds, code[where, 1]
                                        )
                                    elif op == PATTERN:
                                        holds = fits(
                                            event,
                                            text_columns[tested],
                                            texts,
                                            text_offsets,
                                            pattern_starts,
                                            pattern_elements,
                                            code[where, 1],
                                            code[where, 2],
                                        )
                                    else:
                                        pending = True
                                        holds = True
                                    jumps = code[where, 3]
                                    at = np.uint64(jumps >> 16 if holds else jumps & 0xFFFF)
                                if at > length:
                                    outcome = FALSE
                                elif pending:
                                    outcome = PENDING
                                if shared > 0:
                                    memo[shared] = (stamp << 2) | outcome
                        if outcome == FALSE:
                            continue
                        if written + end - start > capacity:
                            full = True
                            break
                        once = groups[group, 3] & 1 == 1
                        is_plain = not once and not has_dead
                        for index in range(start, end):
                            position = members[index]
                            if position >= 0 and is_plain:
                                out_events[written] = event
                                out_positions[written] = position
                                out_outcomes[written] = outcome
                                written += 1
                                continue
                            last = position
                            if position < 0:
                                last = starts[-position] - 1
                                position = starts[-1 - position]
                                # Room for the members behind it as well.
                                if written + last - position + end - index > capacity:
                                    full = True
                                    break
                            while position <= last:
                                is_due = not has_dead or dead_since[position] > version
                                if once and is_due:
                                    is_due = seen[position] != stamp
                                    seen[position] = stamp
                                if is_due:
                                    out_events[written] = event
                                    out_positions[written] = position
                                    out_outcomes[written] = outcome
                                    written += 1
                                position += 1
                        if full:
                            break
                if full:
                    break
                mask >>= 1
                level += 1
            if full:
                break
        if full:
            return event, begun, candidates, stamp
        event += 1
    return event, written, candidates, stamp


match_event = short_kernel(renamed(match_events.py_func, "match_event"))
"""`match_events` for one event, which keeps Python's lock."""


@kernel
def fits(
    event: int,
    column: int,
    texts: Array,
    text_offsets: Array,
    pattern_starts: Array,
    pattern_elements: Array,
    pattern: int,
    is_unwanted: int,
) -> bool:
    """Whether the event's string matches a pattern, or does not if that is wanted.

    False for values that are not strings; their offsets are negative.
    """
    begin = text_offsets[column, 2 * event]
    if begin < 0:
        return False
    is_fit = fits_pattern(
        texts[begin : text_offsets[column, 2 * event + 1]],
        pattern_elements,
        pattern_starts[pattern],
        pattern_starts[pattern + 1],
    )
    return bool(is_fit != (is_unwanted == 1))


@kernel
def lies_in_list(rank: int, list_starts: Array, list_bounds: Array, which: int) -> bool:
    """Binary search among the bounds of sorted intervals: inside after an odd number of them."""
    low = list_starts[which]
    begin = low
    high = list_starts[which + 1]
    while low < high:
        middle = (low + high) // 2
        if list_bounds[middle] <= rank:
            low = middle + 1
        else:
            high = middle
    return bool((low - begin) % 2 == 1)


@kernel
def fits_pattern(text: Array, elements: Array, start: int, end: int) -> bool:
    """LIKE by greedy search: on a mismatch go back to the last `%` and let it take one more."""
    position = 0
    at = start
    star = -1
    resume = 0
    size = text.shape[0]
    while position < size:
        if at < end and elements[at] == ANY_TEXT:
            star = at
            resume = position
            at += 1
        elif at < end and (elements[at] == ANY_ONE or elements[at] == np.int64(text[position])):
            at += 1
            position += 1
        elif star >= 0:
            at = star + 1
            resume += 1
            position = resume
        else:
            return False
    while at < end and elements[at] == ANY_TEXT:
        at += 1
    return bool(at == end)


def _array(kind: Any, dimensions: int = 1) -> Any:
    return nb.types.Array(kind, dimensions, "C")


_SIGNATURE = (
    nb.int64,
    _array(nb.int32, 2),
    _array(nb.uint32),
    _array(nb.int64, 2),
    _array(nb.int32),
    _array(nb.int64),
    _array(nb.int64, 2),
    _array(nb.int32),
    _array(nb.int32, 2),
    _array(nb.int32),
    _array(nb.int32),
    _array(nb.int32, 2),
    _array(nb.int32),
    _array(nb.int32),
    _array(nb.int32),
    _array(nb.int32),
    _array(nb.int64),
    nb.int64,
    nb.boolean,
    _array(nb.int64),
    _array(nb.int64),
    nb.int64,
    _array(nb.int64),
    _array(nb.int32),
    _array(nb.uint8),
)


def compiled_match_events() -> Callable[..., tuple[int, int, int, int]]:
    """`match_events`, compiled or read from the cache, without numba's check of every argument.

    The check costs more than a whole event, and rejects read-only arrays from its fast path.
    Arguments must be contiguous and of exactly these types; nothing checks them.
    """
    return compiled(match_events, _SIGNATURE)


def compiled_match_event() -> Callable[..., tuple[int, int, int, int]]:
    """`match_event`, likewise."""
    return compiled(match_event, _SIGNATURE)
