"""Matchers to be saved where saving fails, and what tells one from another."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

from boolcast.filters.parsing import parse
from boolcast.matching.matcher import Matcher

OLD: Final = {f"s{number}": f"price < {number} and title = 't{number % 3}'" for number in range(9)}
NEW: Final = {
    **{name: text for name, text in OLD.items() if name != "s8"},
    "s7": "bid > reserve",
    "new": "price is null or contains(title, '2')",
}
EVENTS: Final[list[dict[str, object]]] = [
    *({"price": price, "title": f"t{title}"} for price in range(9) for title in range(3)),
    {"bid": 2, "reserve": 1, "price": 0},
    {},
]

Answers = list[list[str]]


def filled(texts: Mapping[str, str]) -> Matcher:
    """A matcher with these filters."""
    matcher = Matcher()
    for name, text in texts.items():
        matcher.add(name, text)
    return matcher


def answers(matcher: Matcher) -> Answers:
    """What the matcher says of each event."""
    return [sorted(matcher.match(event)) for event in EVENTS]


def expected(texts: Mapping[str, str]) -> Answers:
    """What the reference evaluator says of each event."""
    return _expected(tuple(texts.items()))


@cache
def _expected(texts: tuple[tuple[str, str], ...]) -> Answers:
    filters = {name: parse(text) for name, text in texts}
    return [
        sorted(name for name, filter in filters.items() if filter.accepts(event))
        for event in EVENTS
    ]


def changed() -> Matcher:
    """A matcher that came from OLD to NEW, in two segments, with tombstones and pending.

    Too few segments for a merge in the background.
    """
    matcher = Matcher()
    for number, (name, text) in enumerate(OLD.items()):
        matcher.add(name, text)
        if number in {3, 8}:
            matcher.match_batch(b"")  # which makes a segment of what is pending
    assert len(matcher.stats().segments) == 2
    matcher.remove("s8")
    matcher.add("s7", NEW["s7"])
    matcher.add("new", NEW["new"])
    return matcher


def merged() -> Matcher:
    """The same in one segment, but for a tombstone and an addition after the merge."""
    matcher = changed()
    matcher.merge()
    matcher.add("s0", NEW["s0"])
    return matcher


STARTS: Final[dict[str, tuple[Mapping[str, str] | None, Callable[[], Matcher]]]] = {
    "first": (None, lambda: filled(NEW)),
    "second": (OLD, changed),
    "merged": (OLD, merged),
}
"""What was saved before, and the matcher to save now: each of them holds NEW."""
