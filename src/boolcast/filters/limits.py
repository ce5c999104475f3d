"""The limits against hostile filters. Exceeding one raises a typed error."""

from typing import Final

import msgspec

from boolcast.errors import FilterLimitError

_PROBLEMS: Final = {
    "text": "the filter's text is longer than {:,} characters outside `in` lists",
    "depth": "the filter nests deeper than {:,} levels",
    "predicates": "the filter has more than {:,} predicates",
    "values": "the list has more than {:,} values",
    "regexes": "the filter has more than {:,} regular expressions",
}


DEEPEST: Final = 100
"""How deep a filter in a matcher may nest, whatever its limits.

Its tree has up to 200 levels then, and what evaluates, prints or indexes it takes up to 700 of
the 1,000 calls within each other that Python allows.
"""


class Limits(msgspec.Struct, frozen=True):
    """How large a filter may be. The work to refuse a larger one is bounded by the limits.

    `text` counts the characters outside `in` lists, and those of any single value inside
    one; `depth` the nesting of parentheses and NOTs; `predicates` the leaves; `values` the
    values of one `in` list; `regexes` the predicates `matches`, since to compile one may take
    milliseconds. Beyond a depth of about 150 Python's own recursion limit applies first, and a
    matcher takes no filter deeper than `DEEPEST`.
    """

    text: int = 16_384
    depth: int = 64
    predicates: int = 1_024
    values: int = 10_000
    regexes: int = 32

    def error(
        self, limit: str, text: str | None = None, position: int | None = None
    ) -> FilterLimitError:
        """The error for a filter past the limit of that name."""
        allowed: int = getattr(self, limit)
        problem = _PROBLEMS[limit].format(allowed)
        return FilterLimitError(problem, limit=limit, allowed=allowed, text=text, position=position)


DEFAULT_LIMITS: Final = Limits()

LIMITS_EXPECTED: Final = "limits are a boolcast.filters.limits.Limits such as Limits(depth=10)"
"""What an ArgumentError says that was expected."""
