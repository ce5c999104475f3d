"""The words of the filter language, and names and values as they are written in it."""

import re
from functools import lru_cache
from typing import Final, Literal, assert_never, get_args

from boolcast.model.values import Timestamp, Value

StringFunction = Literal["starts_with", "ends_with", "contains"]

KEYWORDS: Final = frozenset(
    ("and", "or", "not", "in", "between", "like", "is", "null", "true", "false")
)
"""The words that must be quoted to be an attribute's name."""

FUNCTIONS: Final = (*get_args(StringFunction), "matches")
"""The words that are functions before a parenthesis, and names elsewhere."""

PLAIN_NAME: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


@lru_cache(maxsize=4_096)
def name_text(name: str) -> str:
    """The attribute's name, in double quotes where it is not plain."""
    if PLAIN_NAME.fullmatch(name) and name.lower() not in KEYWORDS:
        return name
    return double_quoted(name)


def value_text(value: Value) -> str:
    """The value as a literal that reads back as an equal value of the same kind."""
    match value:
        case str():
            return quoted(value)
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case Timestamp():
            return f"timestamp '{value}'"
        case _:
            assert_never(value)


def escaped(text: str) -> str:
    """The text on one line, harmless to a terminal: unprintable characters as Python's escapes.

    For display only: a filter with such an escape would be parsed as another filter.
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode-escape").decode()
        for character in text
    )


def quoted(text: str) -> str:
    """The text as a string literal."""
    return "'" + text.replace("'", "''") + "'"


def double_quoted(text: str) -> str:
    """The text as a quoted name."""
    return '"' + text.replace('"', '""') + '"'
