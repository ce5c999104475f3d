"""Many arrays as one, so that a store has few files: each costs syncs to disk."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

_ALIGNMENT: Final = 64


class Section(msgspec.Struct, frozen=True, array_like=True):
    """An array within the whole."""

    name: str
    dtype: str
    shape: tuple[int, ...]


def pack(arrays: Mapping[str, NDArray[Any]]) -> tuple[NDArray[np.uint8], list[Section]]:
    """The arrays end to end, each at a multiple of 64 bytes, and what they are."""
    parts: list[NDArray[np.uint8]] = []
    sections: list[Section] = []
    for name, array in arrays.items():
        sections.append(Section(name, array.dtype.str, array.shape))
        parts += [
            np.ascontiguousarray(array).reshape(-1).view(np.uint8),
            np.zeros(-array.nbytes % _ALIGNMENT, dtype=np.uint8),
        ]
    return np.concatenate([*parts, np.zeros(0, np.uint8)]), sections


def unpack(packed: NDArray[np.uint8], sections: Sequence[Section]) -> dict[str, NDArray[Any]]:
    """The arrays again, as views. Raises ValueError if they are not in there."""
    arrays: dict[str, NDArray[Any]] = {}
    at = 0
    for section in sections:
        dtype = np.dtype(section.dtype)
        size = dtype.itemsize * int(np.prod(section.shape, dtype=np.int64))
        arrays[section.name] = packed[at : at + size].view(dtype).reshape(section.shape)
        at += size + -size % _ALIGNMENT
    return arrays
