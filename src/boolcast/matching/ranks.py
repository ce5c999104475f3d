"""Values as ranks: where a value lies among all the cuts that filters make on its attribute.

Every predicate on an attribute, whatever its kind, is a set of intervals between cuts (see
`algebra.cuts`). Number the places between the cuts of all filters, and an event's value is
one small integer, and each predicate a comparison of integers. What is exact in the order of
all values, integers against floats and strings by code point included, stays exact.
"""

from bisect import bisect_right
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from boolcast.algebra.cuts import BOOLEAN, MISSING, NUMBER, OPAQUE, STRING, TIMESTAMP, Cut
from boolcast.model.values import EventValue, Opaque, Timestamp

_EXACT_AS_FLOAT: Final = 2**53


class RankSpace:
    """The cuts of one attribute, sorted. Rank r lies behind r cuts; missing has a rank too."""

    def __init__(self, cuts: Iterable[Cut], *, is_ordered: bool = True) -> None:
        """Where no string's place matters but only equality, `is_ordered` may be false."""
        self.is_ordered = is_ordered
        self.cuts: list[Cut] = sorted({(MISSING,), *cuts})
        self.size = len(self.cuts) + 1
        self.place = {cut: index + 1 for index, cut in enumerate(self.cuts)}
        self._base = {
            rank: bisect_right(self.cuts, (rank,))
            for rank in (MISSING, OPAQUE, BOOLEAN, NUMBER, STRING, TIMESTAMP)
        }
        self.numbers = self._keys(NUMBER)
        self.timestamps = np.array(self._keys(TIMESTAMP), dtype=np.int64)
        self.strings = self._keys(STRING)
        base = self._base[STRING]
        self._known: dict[str | None, int] = {
            text: base + index + 1 for index, text in enumerate(self.strings)
        }
        self._is_float_exact = all(
            isinstance(key, float) or abs(key) <= _EXACT_AS_FLOAT for key in self.numbers
        )
        self._floats = np.array([float(key) for key in self.numbers], dtype=np.float64)

    def _keys(self, rank: int) -> list[Any]:
        return [cut[1] for cut in self.cuts if cut[0] == rank and len(cut) > 1]

    def map_from(self, other: "RankSpace") -> NDArray[np.int32]:
        """For each bound in a space whose cuts are among these, the same bound here."""
        places = [0, *(self.place[cut] for cut in other.cuts), self.size]
        return np.array(places, dtype=np.int32)

    def rank(self, value: EventValue | None) -> int:
        """The rank of one value; None stands for missing."""
        kind = type(value)
        if kind is str:
            return self.string_rank(value)  # type: ignore[arg-type]
        if kind is float or kind is int:
            return self._base[NUMBER] + bisect_right(self.numbers, value)
        if value is None:
            return self._base[MISSING]
        if kind is bool:
            return self._base[BOOLEAN] + (value is True and (BOOLEAN, True) in self.place)
        if isinstance(value, Timestamp):
            place = int(np.searchsorted(self.timestamps, value.microseconds, side="right"))
            return self._base[TIMESTAMP] + place
        assert isinstance(value, Opaque)
        return self._base[OPAQUE]

    def string_rank(self, text: str) -> int:
        """The rank of a string: known constants by a look-up, others by their place."""
        known = self._known.get(text)
        return self._unknown_rank(text) if known is None else known

    def _unknown_rank(self, text: str) -> int:
        if self.is_ordered:
            return self._base[STRING] + bisect_right(self.strings, text)
        # Between constants one place is as good as another, and behind the last is one.
        return self._base[STRING] + len(self.strings)

    def string_ranks(self, texts: list[str | None]) -> list[int]:
        """The ranks of many strings; None stands for missing."""
        missing = self._base[MISSING]
        return [
            known if known is not None else missing if text is None else self._unknown_rank(text)
            for text, known in zip(texts, map(self._known.get, texts), strict=True)
        ]

    def float_ranks(self, values: NDArray[np.float64]) -> NDArray[np.int64] | None:
        """The ranks of floats other than NaN; None where a constant is no exact float."""
        if not self._is_float_exact:
            return None
        return self._base[NUMBER] + np.searchsorted(self._floats, values, side="right")

    def integer_ranks(self, values: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """The ranks of integers; None where they or a constant are no exact floats."""
        if values.size and max(-int(values.min()), int(values.max())) > _EXACT_AS_FLOAT:
            return None
        return self.float_ranks(values.astype(np.float64))

    def timestamp_ranks(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """The ranks of timestamps, given in microseconds."""
        return self._base[TIMESTAMP] + np.searchsorted(self.timestamps, values, side="right")

    def boolean_ranks(self) -> tuple[int, int]:
        """The ranks of false and true."""
        return self.rank(False), self.rank(True)
