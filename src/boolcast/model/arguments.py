"""The check of an argument's type, for the functions that users call."""

from types import UnionType

from boolcast.errors import ArgumentError


def check_argument(given: object, kinds: type | UnionType, expected: str) -> None:
    """Raise ArgumentError, which says what was expected, if the argument is of another type."""
    if not isinstance(given, kinds):
        raise ArgumentError(expected, given)
