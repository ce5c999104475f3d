"""Many strings in Arrow, of which single ones become Python objects when they are asked for.

A million ids as Python objects take 55 bytes each beside their characters' own, and a second
to make; a matcher that was loaded to match batches needs none of them.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_PIECE: Final = 16_384


class StringColumn:
    """Immutable, none of them null; of the type `string` or `large_string`."""

    def __init__(self, array: pa.Array) -> None:
        assert array.null_count == 0
        assert array.offset == 0
        self.array = array
        # Not a list: Python's collector of garbage would walk through it, and all threads wait.
        self._made: tuple[NDArray[np.object_], NDArray[np.bool_]] | None = None
        _, offsets, data = array.buffers()
        self._offsets = (
            memoryview(offsets).cast("b").cast("q" if pa.types.is_large_string(array.type) else "i")
        )
        self._data = memoryview(b"" if data is None else data)

    @classmethod
    def of(cls, strings: Sequence[str], type_: pa.DataType) -> "StringColumn":
        """From Python's strings."""
        return cls(pa.array(strings, type_))

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, position: int) -> str:
        offsets = self._offsets
        return str(self._data[offsets[position] : offsets[position + 1]], "utf-8")

    def at(self, positions: NDArray[np.int32]) -> list[str]:
        """The strings at these positions.

        Once made they are kept: to make one takes ten times as long as to look it up, and an
        application that matches event by event meets the same ones again. All at once would
        be faster yet, but the first call would wait for it.
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
        """All of them, some thousands at a time, with their positions.

        Between two pieces other threads get their turn; of a million at once they would not.
        """
        for first in range(0, len(self), _PIECE):
            positions = slice(first, first + _PIECE)
            yield positions, self.array[positions].to_pylist()

    @property
    def nbytes(self) -> int:
        """What the Arrow array takes."""
        return int(self.array.nbytes)
