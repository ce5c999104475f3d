"""Whether a text is a filter, told by a grammar instead of the parser."""

import math
from pathlib import Path

import re2
from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput

from boolcast.model.values import Timestamp

_GRAMMAR = Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8")
_LARK = Lark(_GRAMMAR, parser="lalr")


def is_filter(text: str) -> bool:
    try:
        tree = _LARK.parse(text)
    except UnexpectedInput:
        return False
    return all(map(_is_sound, tree.iter_subtrees()))


def _is_sound(tree: Tree[Token]) -> bool:
    """What the grammar cannot say, one node at a time."""
    tokens = [child for child in tree.children if isinstance(child, Token)]
    strings = [token[1:-1].replace("''", "'") for token in tokens if token.type == "STRING"]
    return (
        all(map(_is_sound_token, tokens))
        and {
            "one_kind": lambda: len(set(map(_kind, _values(tree)))) == 1,
            "moment": lambda: _is_timestamp(strings[0]),
            "like": lambda: _is_pattern(*strings),
            "call": lambda: tokens[0].lower() != "matches" or _is_regex(strings[0]),
        }.get(str(tree.data), lambda: True)()
    )


def _is_sound_token(token: Token) -> bool:
    if token.type == "NUMBER":
        return math.isfinite(float(token))
    return not any("\ud800" <= character <= "\udfff" for character in token)


def _values(tree: Tree[Token]) -> list[Tree[Token] | Token]:
    return [
        child
        for child in tree.children[1:]
        if isinstance(child, Tree) or child.type in ("NUMBER", "STRING")
    ]


def _kind(value: Tree[Token] | Token) -> str:
    return str(value.data) if isinstance(value, Tree) else value.type


def _is_timestamp(text: str) -> bool:
    try:
        Timestamp.parse(text)
    except ValueError:
        return False
    return True


def _is_pattern(pattern: str, escape: str | None = None) -> bool:
    """True if every escape is followed by what it may stand before."""
    if escape is None:
        return True
    if len(escape) != 1:
        return False
    place = pattern.find(escape)
    while place >= 0:
        if pattern[place + 1 : place + 2] not in ("%", "_", escape):
            return False
        place = pattern.find(escape, place + 2)
    return True


def _is_regex(pattern: str) -> bool:
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error:
        return False
    return True
