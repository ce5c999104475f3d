"""Common mistakes in filters, and the hints that a syntax error gives for them.

Nothing here decides whether a text is a filter; that it is not is already known.
"""

import re
from typing import Final, NamedTuple

from boolcast.filters.spelling import nearest, suggest
from boolcast.filters.words import FUNCTIONS, escaped

_WORD: Final = "a name, a value, an operator or a parenthesis"
_JOINED: Final = "`and`, `or` or the end"
_QUOTE: Final = "a string in single quotes"
_DOTS: Final = 'dots join plain names, as in item.price; any other name is quoted: "a..b"'
_MOMENT: Final = "a timestamp is written timestamp '2026-01-31T12:00:00Z'"

# Text found, what is expected there, and the hint. A text comes before its own prefixes.
_FOREIGN: Final = (
    ("==", "`=`", "equality is written with a single ="),
    ("&&", "`and`", "write `and`"),
    ("&", "`and`", "write `and`"),
    ("||", "`or`", "write `or`"),
    ("|", "`or`", "write `or`"),
    ("!", "`not` or `!=`", "write `not`, or `!=` for unequal"),
    ("~", "an operator such as = or like", "write `matches(attribute, 'regex')`"),
    ("’", _QUOTE, "strings take straight single quotes: 'text'"),
    ("‘", _QUOTE, "strings take straight single quotes: 'text'"),
    ("“", _QUOTE, "strings take single quotes: 'text'"),
    ("”", _QUOTE, "strings take single quotes: 'text'"),
    ("`", "an attribute", 'an attribute\'s name is quoted with double quotes: "name"'),
    (
        "[",
        "an attribute or `(`",
        'an attribute\'s name is quoted with double quotes ("name"), a list of values is in ( )',
    ),
    (";", _JOINED, "one filter at a time, without a semicolon"),
    ("--", _JOINED, "a filter has no comments"),
    ("/*", _JOINED, "a filter has no comments"),
    ("-", "a number", "a minus sign stands directly before the digits; there is no arithmetic"),
    ("+", _JOINED, "there is no arithmetic in a filter"),
    ("*", _JOINED, "there is no arithmetic in a filter; for any value write `is not null`"),
    ("/", _JOINED, "there is no arithmetic in a filter"),
    ("$", "an attribute", 'quote such a name: "$name"'),
    ("@", "an attribute", 'quote such a name: "@name"'),
    (".", "a name or a number", _DOTS),
)
_NUMBER_LIKE: Final = re.compile(r"[+-]?\.?[0-9][\w.]{0,40}")
_SIGNS: Final = re.compile(r"[+-]{2,40}(?=\.?[0-9])")
_LOOKAROUND: Final = re.compile(r"\(\?<?[=!]|\\[1-9]")
_DATE: Final = re.compile(r"'\d{4}-\d\d-\d\d")
_MOMENTS: Final = ("timestamp", "date", "datetime", "time")
_OPERATORS: Final = ("between", "in", "like")
# Words that other languages write before a condition.
_LEADING: Final = ("where", "if", "when")


class Slip(NamedTuple):
    """The description of an error at a position where no word begins."""

    problem: str
    found: str
    expected: str
    hint: str | None


def diagnose(text: str, start: int) -> Slip:
    """Describe the error at a position where no word begins."""
    if text[start] == "'":
        hint = "close it with ', and write '' for a quote inside the string"
        return Slip("the string that begins here is not closed", "`'`", _QUOTE, hint)
    if text[start] == '"':
        hint = "close it with \"; strings take single quotes: 'text'"
        expected = "a name in double quotes"
        return Slip("the quoted name that begins here is not closed", '`"`', expected, hint)
    if number := _NUMBER_LIKE.match(text, start):
        found = shown(number[0])
        hint = "numbers look like 25, -1.5 or 6e23; strings take single quotes"
        return Slip(f"{found} is not a number", found, "a number", hint)
    if signs := _SIGNS.match(text, start):
        hint = "a number has one sign at most; a filter has neither arithmetic nor comments"
        return _foreign(f"`{signs[0]}`", "a number", hint)
    for slip, expected, hint in _FOREIGN:
        if text.startswith(slip, start):
            return _foreign(f"`{slip}`", expected, hint)
    character = text[start]
    if character.isprintable():
        return _foreign(f"`{character}`", _WORD, None)
    return _foreign(f"the character U+{ord(character):04X}", _WORD, None)


def _foreign(found: str, expected: str, hint: str | None) -> Slip:
    return Slip(f"{found} is not part of the filter language", found, expected, hint)


def shown(word: str) -> str:
    """A word as errors quote it: in backticks, except a string, which has quotes already."""
    return shortened(word) if word.startswith("'") else f"`{shortened(word)}`"


def shortened(text: str) -> str:
    """The text on one line, shortened if it is long."""
    return escaped(text if len(text) <= 40 else text[:39] + "…")


def in_place_of_operand(keyword: str | None, lexeme: str) -> str | None:
    """The hint for a word that cannot begin a predicate."""
    if keyword == "null":
        return "use `is null` or `is not null`"
    if keyword is None:
        return None
    return f'something is missing before `{lexeme}`; an attribute `{lexeme}` is written "{lexeme}"'


def in_place_of_function(word: str) -> str:
    """The hint for a name before a parenthesis that is not a function."""
    return (
        _before_condition(word)
        or suggest(word.lower(), FUNCTIONS)
        or "there are " + ", ".join(FUNCTIONS)
    )


def behind_attribute(name: str, kind: str, lexeme: str, keyword: str | None) -> str | None:
    """The hint for text after an attribute where an operator is expected."""
    if name.lower() == "escape":
        return "`escape` follows a `like` pattern"
    if kind in ("end", "close") or keyword in ("and", "or"):
        return f"a predicate compares: {shortened(name)} = true, {shortened(name)} is not null"
    if leading := _before_condition(name):
        return leading
    if name.lower() in FUNCTIONS:
        return f"write {name.lower()}(attribute, 'text')"
    if kind == "name":
        known = (*_OPERATORS, "is", "not")
        return _operator_like(name, lexeme, known) or suggest(name.lower(), ("not",))
    if kind == "number" and lexeme[0] == ".":
        return _DOTS
    if kind in ("number", "string"):
        missing = f"an operator is missing: {shortened(name)} = {shortened(lexeme)}"
        return behind_word(name, lexeme) or missing
    return None


def behind_negation(name: str, kind: str, lexeme: str, keyword: str | None) -> str | None:
    """The hint for text after `attribute not`."""
    if leading := _before_condition(name):
        return leading
    if keyword == "null":
        return "write `is not null`"
    if kind == "name":
        return _operator_like(name, lexeme, _OPERATORS, "not ")
    return "write `!=`, or `not` before the predicate" if kind == "operator" else None


def behind_word(word: str, lexeme: str) -> str | None:
    """The hint for a number or string after a plain name: it may be meant as a timestamp."""
    if word.lower() not in _MOMENTS:
        return None
    return f"write timestamp {shortened(lexeme)}" if _DATE.match(lexeme) else _MOMENT


def _before_condition(word: str) -> str | None:
    if word.lower() in _LEADING:
        return f"leave out `{word}`: a filter is the condition alone"
    return None


def _operator_like(
    name: str, lexeme: str, known: tuple[str, ...], negation: str = ""
) -> str | None:
    """The hint for a word instead of an operator: it may be a function, or misspelt."""
    near = nearest(lexeme.lower(), (*FUNCTIONS, *known))
    if near in FUNCTIONS:
        return f"write {negation}{near}({shortened(name)}, 'text')"
    return f"did you mean `{near}`?" if near else None


def in_null_test(lexeme: str) -> str:
    """The hint for text after `is` where `null` is expected."""
    return suggest(lexeme.lower(), ("null",)) or "compare with a value by = and !="


def in_place_of_value(before: str, kind: str, lexeme: str, keyword: str | None) -> str | None:
    """The hint for text where a value is expected; `before` is the character before it, if any."""
    if keyword == "null":
        return "use `is null` or `is not null`"
    if lexeme.lower() in _MOMENTS:
        return _MOMENT
    if kind == "name" and keyword is None:
        return f"strings take single quotes: '{shortened(lexeme)}'"
    if before == "=" and lexeme in ("<", ">"):
        return f"write {lexeme}="
    if kind == "close" and before == "(":
        return "a list has at least one value; a filter that accepts nothing is `false`"
    if kind == "close" and before == ",":
        return "the last value has no comma after it"
    return None


def in_place_of_string(kind: str, lexeme: str, keyword: str | None) -> str | None:
    """The hint for text where a string is expected."""
    if kind == "number" or (kind == "name" and keyword is None):
        return f"strings take single quotes: '{shortened(lexeme)}'"
    return None


def in_list(kind: str) -> str | None:
    """The hint for text in a list where a comma or the end of the list is expected."""
    if kind == "end":
        return "the list is not closed"
    is_word = kind in ("name", "number", "quoted", "string")
    return "values have commas between them: (1, 2)" if is_word else None


def after_operand(kind: str, lexeme: str, before: str) -> str | None:
    """The hint for text where AND, OR or the end is expected; `before` is the character before."""
    if before == "'" and kind == "name":
        return "a quote inside a string is written twice: 'it''s'"
    match kind:
        case "number" if lexeme[0] in "+-":
            return "there is no arithmetic in a filter"
        case "name" | "number":
            near = suggest(lexeme.lower(), ("and", "or", "escape"))
            return near or "predicates are joined by `and` and `or`; strings take single quotes"
        case "close":
            return "this `)` has no `(`"
        case "operator":
            return "comparisons do not chain; join two with `and`"
        case "string":
            return "a quote inside a string is written twice: 'it''s'"
        case "comma":
            return "numbers have no separators; several values are written `in (1, 2)`"
        case _:
            return None


def in_double_quotes(name: str) -> str:
    """The hint for a quoted name where a string is expected."""
    string = "'" + shortened(name.replace("'", "''")) + "'"
    return f'for the string write {string}; two quoted attributes compare as "a" = "b"'


def in_regex(pattern: str) -> str | None:
    """The hint for a regular expression that is refused."""
    if _LOOKAROUND.search(pattern):
        return "RE2 has neither lookaround nor references to groups"
    return None
