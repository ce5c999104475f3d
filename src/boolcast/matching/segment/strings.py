"""Many strings in Arrow; single ones become Python objects on demand.

A million ids as Python objects take 55 bytes each beside their characters, and a second to make.
A matcher that only matches batches needs none of them.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_PIECE: Final = 16_384


class StringColumn:
    """An immutable column of type `string` or `large_string` without nulls."""

    def __init__(self, array: pa.Array) -> None:
        assert array.null_count == 0
        assert array.offset == 0
        self.array = array
        # Not a list: the garbage collector would traverse it while all threads wait.
        self._made: tuple[NDArray[np.object_], NDArray[np.bool_]] | None = None
        _, offsets, data = array.buffers()
        self._offsets = (
            memoryview(offsets).cast("b").cast("q" if pa.types.is_large_string(array.type) else "i")
        )
        self._data = memoryview(b"" if data is None else data)

    @classmethod
    def of(cls, strings: Sequence[str], type_: pa.DataType) -> "StringColumn":
        """From Python strings."""
        return cls(pa.array(strings, type_))

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, position: int) -> str:
        offsets = self._offsets
        return str(self._data[offsets[position] : offsets[position + 1]], "utf-8")

    def at(self, positions: NDArray[np.int32]) -> list[str]:
        """The strings at these positions.

        Strings are kept once made: making one takes ten times as long as looking it up, and a
        program that matches event by event needs the same ones again. Making all at once
        would be faster overall, but the first call would wait for it.
        """
        if not len(positions):
            return []
        if self._made is None:
            self._made = np.empty(len(self), dtype=object), np.zeros(len(self), dtype=np.bool_)
        made, is_made = self._made
        missing = positions[~is_made[positions]]
        for position in missing.tolist():
            made[position] = self[position]
        is_made[missing] = True
        found: list[str] = made[positions].tolist()
        return found

    def encoded(self, positions: NDArray[np.int32]) -> pa.DictionaryArray:
        """The strings at these positions, as codes into all of them; nothing is copied."""
        return pa.DictionaryArray.from_arrays(pa.array(positions), self.array, safe=False)

    def pieces(self) -> Iterator[tuple[slice, list[str]]]:
        """All strings with their positions, some thousands at a time.

        Other threads can run between two pieces.
        """
        for first in range(0, len(self), _PIECE):
            positions = slice(first, first + _PIECE)
            yield positions, self.array[positions].to_pylist()

    @property
    def nbytes(self) -> int:
        """The size of the Arrow array."""
        return int(self.array.nbytes)
