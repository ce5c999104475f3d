"""The words of a filter's text, one at a time, so that a limit is met before the work is done."""

import re
from typing import Final

from boolcast.errors import FilterLimitError, FilterSyntaxError
from boolcast.filters.limits import Limits
from boolcast.filters.printing import KEYWORDS

_TOKEN: Final = re.compile(
    r"""\s*(?:
      (?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*)
    | (?P<operator><=|>=|<>|!=|[=<>](?!=))
    | (?P<number>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.]))
    | (?P<string>'[^']*(?:''[^']*)*')
    | (?P<open>\()
    | (?P<close>\))
    | (?P<comma>,)
    | (?P<quoted>"[^"]*(?:""[^"]*)*")
    | (?P<end>\Z)
    )""",
    re.VERBOSE,
)
_SPACE: Final = re.compile(r"\s*")

_SLIPS: Final = (
    ("==", "equality is written with a single ="),
    ("&&", "write `and`"),
    ("&", "write `and`"),
    ("||", "write `or`"),
    ("|", "write `or`"),
    ("!", "write `not`, or `!=` for unequal"),
    ("~", "write `matches(attribute, 'regex')`"),
    ("’", "strings take straight single quotes: 'text'"),
    ("‘", "strings take straight single quotes: 'text'"),
    ("“", "strings take single quotes: 'text'"),
    ("”", "strings take single quotes: 'text'"),
    ("`", 'an attribute\'s name is quoted with double quotes: "name"'),
    ("[", 'an attribute\'s name is quoted with double quotes ("name"), a list of values is in ( )'),
    (";", "one filter at a time, without a semicolon"),
    ("--", "a filter has no comments"),
    ("/*", "a filter has no comments"),
    ("-", "a minus sign stands directly before the digits; there is no arithmetic"),
    ("+", "there is no arithmetic in a filter"),
    ("*", "there is no arithmetic in a filter; for any value write `is not null`"),
    ("/", "there is no arithmetic in a filter"),
    ("$", 'quote such a name: "$name"'),
    ("@", 'quote such a name: "@name"'),
)


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
            self._fail()
        kind = found.lastgroup
        assert kind is not None
        self.kind = kind
        self.lexeme = lexeme = found[kind]
        self.next = found.end()
        self.start = self.next - len(lexeme)
        if kind == "name":
            lowered = lexeme.lower()
            self.keyword = lowered if lowered in KEYWORDS else None
        else:
            self.keyword = None
            if kind == "end" and self.end < len(self.text):
                self.fail_by_length()

    def extend(self, characters: int) -> None:
        """Let the text be longer by what an `in` list took."""
        self.end = min(len(self.text), self.end + characters)

    def describe(self) -> str:
        """What stands here, for an error's text."""
        if self.kind == "end":
            return "the end of the filter"
        shown = self.lexeme if len(self.lexeme) <= 40 else self.lexeme[:39] + "…"
        return shown if self.kind == "string" else f"`{shown}`"

    def fail_by_length(self) -> None:
        """Raise the error for a text past its limit."""
        raise FilterLimitError(
            f"the filter's text is longer than {self.limits.text:,} characters outside `in` lists",
            limit="text",
            allowed=self.limits.text,
            text=self.text,
            position=self.end,
        )

    def _fail(self) -> None:
        """Raise the error for a place where no word begins."""
        space = _SPACE.match(self.text, self.next, self.end)
        assert space is not None
        start = space.end()
        if self.end < len(self.text) and self.text[start] in "'\"0123456789.+-":
            self.fail_by_length()
        found, problem, hint = _diagnose(self.text, start)
        raise FilterSyntaxError(
            problem, text=self.text, position=start, found=found, expected=None, hint=hint
        )


_NUMBER_LIKE: Final = re.compile(r"[+-]?\.?[0-9][\w.]{0,40}")


def _diagnose(text: str, start: int) -> tuple[str, str, str | None]:
    """What was found at a place where no word begins, the problem, and a hint."""
    if text[start] == "'":
        hint = "close it with ', and write '' for a quote inside the string"
        return "'", "the string that begins here is not closed", hint
    if text[start] == '"':
        hint = 'close it with "; strings take single quotes: \'text\''
        return '"', "the quoted name that begins here is not closed", hint
    if number := _NUMBER_LIKE.match(text, start):
        found = number[0]
        hint = "numbers look like 25, -1.5 or 6e23; strings take single quotes"
        return found, f"`{found}` is not a number", hint
    for slip, hint in _SLIPS:
        if text.startswith(slip, start):
            return slip, f"`{slip}` is not part of the filter language", hint
    found = text[start]
    shown = f"`{found}`" if found.isprintable() else f"the character U+{ord(found):04X}"
    return found, f"{shown} is not part of the filter language", None
