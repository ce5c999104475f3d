"""Load many subscriptions at once: parse few texts, and fill in templates for the others.

Equal texts are one filter. A text without its literals is its template. Texts with one template
have the same tree, and a table holds the constants of all literals seen with a predicate: so a
literal is read once, however often it occurs. Texts that fit no template (residuals, and literals
that are errors) are parsed one by one.
"""

from enum import Enum, auto
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from boolcast.algebra.ordered_sets import OrderedSet
from boolcast.errors import FilterError
from boolcast.filters.expressions import Filter
from boolcast.filters.limits import DEEPEST, Limits
from boolcast.filters.parsing import parse
from boolcast.filters.size_check import check_limits
from boolcast.matching.segment.filter_subscribers import FilterSubscribers
from boolcast.matching.segment.literal_templates import (
    Constants,
    Group,
    Groups,
    LiteralTemplate,
    split,
)
from boolcast.matching.segment.live_segment import LiveSegment
from boolcast.matching.segment.strings import StringColumn
from boolcast.matching.segment.subscription_rows import Rows
from boolcast.matching.values.columns import ShapeGroup
from boolcast.matching.values.selectivity import Selectivity
from boolcast.matching.values.shapes import Shape, take_apart

REJECTS: Final = pa.schema(
    [
        ("row", pa.int64()),
        ("subscription", pa.string()),
        ("filter", pa.string()),
        ("error", pa.string()),
        ("position", pa.int64()),
    ]
)
"""What `add_many` returns: the malformed rows, and why."""

_CHUNK: Final = 65_536
_TEMPLATE_CHARACTERS: Final = 1 << 22
"""Templates of texts with this many characters in total are kept; then all are forgotten."""


class _Mark(Enum):
    """Instead of a template."""

    UNKNOWN = auto()
    MET = auto()


_UNKNOWN: Final = _Mark.UNKNOWN
_MET: Final = _Mark.MET


class Reject(NamedTuple):
    """A row that was not taken."""

    row: int
    subscription: str | None
    filter: str | None
    error: str
    position: int | None


class Loader:
    """Takes rows, once, and makes a segment of them."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.rejects: list[Reject] = []
        self._texts = StringColumn.of([], pa.large_string())
        self._subscriptions = pa.array([], pa.string())
        self._slot_of = np.zeros(0, dtype=np.int32)
        self._residuals: dict[int, Filter] = {}
        self._groups = Groups()
        self._templates: dict[tuple[str, ...], LiteralTemplate | _Mark | None] = {}
        self._template_characters = 0
        self._constants = Constants()

    def __len__(self) -> int:
        """How many subscriptions were taken."""
        return len(self._slot_of)

    def take(self, rows: Rows) -> None:
        """Take rows. Malformed ones go to `rejects`; the last row of an id counts."""
        encoded = rows.texts.dictionary_encode()
        slots, errors = self._take_texts(encoded.dictionary)
        codes = encoded.indices.fill_null(-1).to_numpy()
        # The entry behind the last is for -1, a text that is null.
        slot_of = np.append(slots, np.int32(-1))[codes]
        is_taken = (slot_of >= 0) & rows.subscriptions.is_valid().to_numpy(zero_copy_only=False)
        for number in np.flatnonzero(~is_taken).tolist():
            if number not in rows.blank:
                self._reject(rows, number, errors.get(int(codes[number])))
        taken = np.flatnonzero(is_taken)
        names = rows.subscriptions.take(pa.array(taken)).dictionary_encode()
        last = np.zeros(len(names.dictionary), dtype=np.int64)
        last[names.indices.to_numpy()] = taken
        self._subscriptions = names.dictionary
        self._slot_of = slot_of[last]

    def _take_texts(
        self, texts: pa.LargeStringArray
    ) -> tuple[NDArray[np.int32], dict[int, FilterError]]:
        """The slot of each text; -1 and an error for a malformed one. Texts are distinct."""
        slots = np.full(len(texts), -1, dtype=np.int32)
        errors: dict[int, FilterError] = {}
        slot = 0
        for begin in range(0, len(texts), _CHUNK):
            for number, text in enumerate(texts.slice(begin, _CHUNK).to_pylist(), begin):
                try:
                    if not self._fill_in(slot, text):
                        self._parse(slot, text)
                except FilterError as error:
                    errors[number] = error
                else:
                    slots[number] = slot
                    slot += 1
        self._texts = StringColumn(texts.take(pa.array(np.flatnonzero(slots >= 0))))
        return slots, errors

    def _reject(self, rows: Rows, number: int, error: FilterError | None) -> None:
        position = None
        if number in rows.problems:
            reason = rows.problems[number]
        elif error is None:
            reason = "subscription and filter must not be null"
        else:
            reason = error.problem + (f"; {error.hint}" if error.hint else "")
            position = error.position
        subscription, text = rows.subscriptions[number].as_py(), rows.texts[number].as_py()
        self.rejects.append(Reject(number, subscription, text, reason, position))

    def _fill_in(self, slot: int, text: str) -> bool:
        """Add a text with a known template; False if it must be parsed."""
        if len(text) > self.limits.text:
            return False
        key, literals = split(text)
        template = self._templates.get(key, _UNKNOWN)
        if template is _UNKNOWN:
            # Not worth a template until it comes again.
            self._make_room(len(text))
            self._templates[key] = _MET
            return False
        if template is _MET:
            filter = self._read(text)
            template = self._templates[key] = LiteralTemplate.of(
                filter, literals, self._constants, self._groups
            )
        return template is not None and template.take(slot, literals)

    def _make_room(self, characters: int) -> None:
        """Forget all templates if there are too many."""
        self._template_characters += characters
        if self._template_characters > _TEMPLATE_CHARACTERS:
            self._template_characters = characters
            self._templates.clear()
            self._constants.forget_literals()

    def _read(self, text: str) -> Filter:
        filter = parse(text, limits=self.limits)
        if self.limits.depth > DEEPEST:
            check_limits(filter, self.limits)
        return filter

    def _parse(self, slot: int, text: str) -> None:
        filter = self._read(text)
        parts = take_apart(filter)
        if parts is None:
            return
        shape, boundaries = parts
        self._groups[shape].add(slot, list(map(self._constants.number, boundaries)))
        if shape.has_residual:
            self._residuals[slot] = filter

    def segment(self, first_sequence: int, selectivity: Selectivity) -> LiveSegment:
        """All rows taken, numbered from `first_sequence` on."""
        sequence = np.arange(first_sequence, first_sequence + len(self))
        subscribers = FilterSubscribers.sorted(
            self._slot_of, len(self._texts), sequence, self._subscriptions
        )
        return LiveSegment.of_groups(
            [
                _group(shape, each, self._constants.sets)
                for shape, each in self._groups.items()
                if each.slots
            ],
            # Numbered by position, so that a number leads to its position at once.
            subscribers._replace(sequence=sequence),
            self._texts,
            self._residuals,
            selectivity,
        )


def _group(shape: Shape, filters: Group, boundaries: list[OrderedSet]) -> ShapeGroup:
    group = ShapeGroup(shape)
    group.slots = filters.slots.tolist()
    for column, numbers in zip(group.columns, filters.constants, strict=True):
        distinct, codes = np.unique(np.frombuffer(numbers, np.int32), return_inverse=True)
        column.distinct = [boundaries[number] for number in distinct.tolist()]
        column.codes = codes.tolist()
    return group
