"""Arrays that grow at the end: elements are added one by one, and kernels read them."""

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", bound=np.generic)


class Growing(Generic[T]):
    """An array with spare room: appending takes constant time on average."""

    __slots__ = ("_array", "size")

    def __init__(self, kind: type[T], content: Sequence[Any] | NDArray[Any] = ()) -> None:
        self._array: NDArray[T] = np.array(content, dtype=kind)
        self.size = len(self._array)

    def __len__(self) -> int:
        return self.size

    def view(self) -> NDArray[T]:
        """The content, good until the next addition; it may be written to."""
        return self._array[: self.size]

    def extend(self, values: Sequence[Any] | NDArray[Any]) -> None:
        """Add several at the end."""
        end = self.size + len(values)
        if end > len(self._array):
            grown = np.empty(max(2 * end, 16), dtype=self._array.dtype)
            grown[: self.size] = self.view()
            self._array = grown
        self._array[self.size : end] = values
        self.size = end

    def append(self, value: object) -> None:
        """Add one at the end."""
        self.extend((value,))
