"""What people write by mistake, and what to tell them: the hints of a syntax error.

Nothing here decides whether a text is a filter; it is asked when the answer is already no.
"""

import re
from typing import Final

from boolcast.filters.spelling import suggest

_DOTS: Final = 'dots join plain names, as in item.price; any other name is quoted: "a..b"'
_FOREIGN: Final = (
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
    (".", _DOTS),
)
_NUMBER_LIKE: Final = re.compile(r"[+-]?\.?[0-9][\w.]{0,40}")
_LOOKAROUND: Final = re.compile(r"\(\?<?[=!]|\\[1-9]")


def diagnose(text: str, start: int) -> tuple[str, str, str | None]:
    """What was found at a place where no word begins, the problem, and a hint."""
    if text[start] == "'":
        hint = "close it with ', and write '' for a quote inside the string"
        return "'", "the string that begins here is not closed", hint
    if text[start] == '"':
        hint = "close it with \"; strings take single quotes: 'text'"
        return '"', "the quoted name that begins here is not closed", hint
    if number := _NUMBER_LIKE.match(text, start):
        found = number[0]
        hint = "numbers look like 25, -1.5 or 6e23; strings take single quotes"
        return found, f"`{found}` is not a number", hint
    for slip, hint in _FOREIGN:
        if text.startswith(slip, start):
            return slip, f"`{slip}` is not part of the filter language", hint
    found = text[start]
    shown = f"`{found}`" if found.isprintable() else f"the character U+{ord(found):04X}"
    return found, f"{shown} is not part of the filter language", None


def shortened(text: str) -> str:
    """The text, or its beginning where it is long."""
    return text if len(text) <= 40 else text[:39] + "…"


def in_place_of_operand(keyword: str | None, lexeme: str) -> str | None:
    """For a word that cannot begin a predicate."""
    if keyword == "null":
        return "use `is null` or `is not null`"
    if keyword is None:
        return None
    return f'something is missing before `{lexeme}`; an attribute `{lexeme}` is written "{lexeme}"'


def behind_attribute(name: str, kind: str, lexeme: str, keyword: str | None) -> str | None:
    """For what stands behind an attribute in place of an operator."""
    if name.lower() == "escape":
        return "`escape` stands behind a `like` pattern"
    if kind in ("end", "close") or keyword in ("and", "or"):
        return f"a predicate compares: {shortened(name)} = true, {shortened(name)} is not null"
    if kind == "name":
        known = ("between", "in", "like", "is", "not")
        return suggest(lexeme.lower(), known) or suggest(name.lower(), ("not",))
    if kind == "number" and lexeme[0] == ".":
        return _DOTS
    if kind in ("number", "string"):
        return f"an operator is missing: {shortened(name)} = {shortened(lexeme)}"
    return None


def behind_negation(kind: str, keyword: str | None) -> str | None:
    """For what stands behind `attribute not`."""
    if keyword == "null":
        return "write `is not null`"
    return "write `!=`, or `not` before the predicate" if kind == "operator" else None


def in_null_test(lexeme: str) -> str:
    """For what stands behind `is` in place of `null`."""
    return suggest(lexeme.lower(), ("null",)) or "compare with a value by = and !="


def in_place_of_value(operator: str, kind: str, lexeme: str, keyword: str | None) -> str | None:
    """For what stands where a value should; `operator` is the character before, if any."""
    if keyword == "null":
        return "use `is null` or `is not null`"
    if kind == "name" and keyword is None:
        return f"strings take single quotes: '{shortened(lexeme)}'"
    if operator == "=" and lexeme in ("<", ">"):
        return f"write {lexeme}="
    return None


def after_operand(kind: str, lexeme: str, before: str) -> str | None:
    """For what stands in place of AND, OR or the end; `before` is the character before it."""
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
    """For a quoted name where a string was expected."""
    string = "'" + shortened(name.replace("'", "''")) + "'"
    return f'for the string write {string}; two quoted attributes compare as "a" = "b"'


def in_regex(pattern: str) -> str | None:
    """For a regular expression that is refused."""
    if _LOOKAROUND.search(pattern):
        return "RE2 has neither lookaround nor references to groups"
    return None
