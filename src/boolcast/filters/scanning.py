"""The words of a filter's text, read one at a time, so limits apply before the work is done."""

import re
from typing import Final, NoReturn

from boolcast.errors import FilterSyntaxError
from boolcast.filters import slips
from boolcast.filters.limits import Limits
from boolcast.filters.words import KEYWORDS

_TOKEN: Final = re.compile(
    r"""\s*(?:
      (?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*)
    | (?P<operator><=|>=|<>|!=|[=<>](?!=))
    | (?P<number>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.]))
    | (?P<string>'[^']*+(?:''[^']*+)*+')
    | (?P<open>\()
    | (?P<close>\))
    | (?P<comma>,)
    | (?P<quoted>"[^"]*+(?:""[^"]*+)*+")
    | (?P<end>\Z)
    )""",
    re.VERBOSE,
)
# Digits that always fit 64 bits, and strings of plain characters.
_COMPARISON: Final = re.compile(
    r"\s*(<=|>=|<>|!=|[=<>])\s*(?:([0-9]{1,18})(?![\w.])|('[\x20-\x26\x28-\x7e]*+')(?!'))"
)
_SPACE: Final = re.compile(r"\s*")


class Scanner:
    """The current word of the text: its `kind`, `lexeme`, `start`, and `keyword` if it is one."""

    __slots__ = ("end", "keyword", "kind", "lexeme", "limits", "next", "start", "text")

    kind: str
    lexeme: str
    keyword: str | None
    start: int

    def __init__(self, text: str, limits: Limits) -> None:
        self.text = text
        self.limits = limits
        self.next = 0
        self.end = min(len(text), limits.text)
        self.advance()

    def advance(self) -> None:
        """Go on to the next word. Raises where there is none."""
        found = _TOKEN.match(self.text, self.next, self.end)
        if found is None:
            self._fail_between_words()
        kind = found.lastgroup
        assert kind is not None
        self.kind = kind
        self.lexeme = lexeme = found[kind]
        self.next = found.end()
        if self.next == self.end < len(self.text):
            # The word itself may have been cut here.
            self.fail_by_length()
        self.start = self.next - len(lexeme)
        if kind == "name":
            lowered = lexeme.lower()
            self.keyword = lowered if lowered in KEYWORDS else None
        else:
            self.keyword = None

    def read_comparison(self) -> tuple[str, int | str, int] | None:
        """The operator, the value and its position after the current name, if both are simple.

        Most predicates are: this reads them in one step instead of three. Others are read word
        by word, with the same result.
        """
        found = _COMPARISON.match(self.text, self.next, self.end)
        if found is None:
            return None
        operator, digits, string = found.groups()
        self.next = found.end()
        if digits is None:
            return operator, string[1:-1], found.start(3)
        return operator, int(digits), found.start(2)

    def extend(self, characters: int) -> None:
        """Allow a longer text, by the characters of an `in` list."""
        self.end = min(len(self.text), self.end + characters)

    def describe(self) -> str:
        """The current word, as an error message names it."""
        return "the end of the filter" if self.kind == "end" else slips.shown(self.lexeme)

    def fail_by_length(self) -> NoReturn:
        """Raise the error for a text past its limit."""
        raise self.limits.error("text", self.text, self.end)

    def _fail_between_words(self) -> NoReturn:
        """Raise the error for a position where no word begins."""
        space = _SPACE.match(self.text, self.next, self.end)
        assert space is not None
        start = space.end()
        is_cut = start + 1 >= self.end or self.text[start] in "'\"0123456789.+-"
        if self.end < len(self.text) and is_cut:
            self.fail_by_length()
        slip = slips.diagnose(self.text, start)
        raise FilterSyntaxError(
            slip.problem,
            text=self.text,
            position=start,
            found=slip.found,
            expected=slip.expected,
            hint=slip.hint,
        )

    def fail(
        self, expected: str, *, hint: str | None = None, position: int | None = None
    ) -> NoReturn:
        """Raise for the current word, or for `position`: something else was expected."""
        found = self.describe()
        raise FilterSyntaxError(
            f"expected {expected}, found {found}",
            text=self.text,
            position=self.start if position is None else position,
            found=found,
            expected=expected,
            hint=hint,
        )

    def refuse(
        self,
        problem: str,
        start: int,
        *,
        expected: str,
        end: int | None = None,
        hint: str | None = None,
    ) -> NoReturn:
        """Raise for what was read from `start` on, up to `end` or else the current word."""
        text = self.text
        found = text[start : self.start if end is None else end].rstrip()
        raise FilterSyntaxError(
            problem,
            text=text,
            position=start,
            found=slips.shown(found),
            expected=expected,
            hint=hint,
        )

    def refuse_word(self, problem: str, *, expected: str, hint: str | None = None) -> NoReturn:
        """Raise for the current word."""
        self.refuse(problem, self.start, expected=expected, end=self.next, hint=hint)

    def refuse_quoted(self, expected: str) -> NoReturn:
        """Raise for a name in double quotes where a value should be."""
        hint = slips.in_double_quotes(self.lexeme[1:-1].replace('""', '"'))
        problem = "double quotes are for names of attributes"
        self.refuse_word(problem, expected=expected, hint=hint)
