"""Values as bytes that sort as the values do, one key for each value.

A database or Spark that sorts and groups these bytes sorts and groups values of one kind by
our order: integers and floats exactly against each other, strings by code point.

A number is the float64 next to it, in eight bytes whose order is that of floats, and in two
more how far an integer lies from that float: rounding to the nearest keeps the order, and of
the 64-bit integers that round to the same float none is further away than 1,024.
"""

import math
import struct
from typing import Final

from boolcast.model.values import INTEGER_MAX, INTEGER_MIN, Kind, Timestamp, Value

_NUMBER: Final = struct.Struct(">QH")
_FLOAT: Final = struct.Struct(">d")
_BITS: Final = struct.Struct(">Q")
_SIGN: Final = 1 << 63
_ALL: Final = (1 << 64) - 1
_MIDDLE: Final = 1 << 15


def sort_key(value: Value) -> bytes:
    """The key of a value within its kind; numbers must be finite.

    >>> sort_key(5) == sort_key(5.0) < sort_key(5.5)
    True
    """
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bool):
        return b"\1" if value else b"\0"
    if isinstance(value, Timestamp):
        return _BITS.pack(value.microseconds + _SIGN)
    nearest = float(value)
    assert math.isfinite(nearest)
    # Zero added makes -0.0 what it equals.
    (bits,) = _BITS.unpack(_FLOAT.pack(nearest + 0.0))
    distance = value - int(nearest) if isinstance(value, int) else 0
    # The order of floats is that of their bits, for negative ones reversed.
    return _NUMBER.pack(bits ^ (_ALL if bits & _SIGN else _SIGN), distance + _MIDDLE)


def value_of_key(kind: Kind, key: bytes) -> Value:
    """The value that the key stands for; whole numbers within 64 bits as integers."""
    match kind:
        case Kind.STRING:
            return key.decode()
        case Kind.BOOLEAN:
            return key == b"\1"
        case Kind.TIMESTAMP:
            return Timestamp(_BITS.unpack(key)[0] - _SIGN)
        case Kind.NUMBER:
            bits, distance = _NUMBER.unpack(key)
            (nearest,) = _FLOAT.unpack(_BITS.pack(bits ^ (_SIGN if bits & _SIGN else _ALL)))
            whole = int(nearest) + distance - _MIDDLE
            is_integer = nearest.is_integer() and INTEGER_MIN <= whole <= INTEGER_MAX
            return whole if is_integer else float(nearest)
        case _:
            raise AssertionError(f"no values of kind {kind} have keys")
