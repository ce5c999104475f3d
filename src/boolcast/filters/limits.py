"""The limits against hostile filters. Past one of them there is a typed error."""

from typing import Final

import msgspec


class Limits(msgspec.Struct, frozen=True):
    """How large a filter may be.

    `text` counts the characters outside `in` lists, and those of any single value inside
    one; `depth` the nesting of parentheses and NOTs; `predicates` the leaves; `values` the
    values of one `in` list. Work on a filter past a limit is in proportion to the limit.
    """

    text: int = 16_384
    depth: int = 64
    predicates: int = 1_024
    values: int = 10_000


DEFAULT_LIMITS: Final = Limits()
