"""Is there a string between two bounds that fits some patterns and misses others?

The question is whether a product of automata accepts anything: one for each bound, one for
each pattern (see `filters.patterns`), a pattern to miss with its acceptance reversed. Only
the characters that occur in the question and one from each gap between them can make a
difference, so the product is finite; it is searched breadth first, and the first string
found is a shortest one. The search can be exponential in the number of patterns, so it
spends a budget; guesses that often succeed, and pairs that contradict, come first.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple

from boolcast.filters.patterns import ANY, LikePattern

if TYPE_CHECKING:
    from boolcast.algebra.budget import Budget


class Row(NamedTuple):
    """A LIKE pattern as a hashable row: its elements, and before which of them `%` stands."""

    elements: tuple[str | None, ...]
    stays: int


class Literal(NamedTuple):
    """A pattern that a string must fit, or must not."""

    row: Row
    holds: bool


class Bounds(NamedTuple):
    """The strings from `low` on and, if there is a `high`, below it."""

    low: str
    high: str | None

    def admits(self, text: str) -> bool:
        return self.low <= text and (self.high is None or text < self.high)


@lru_cache(maxsize=4096)
def automaton(row: Row) -> LikePattern:
    """The automaton of a pattern."""
    return LikePattern.compile(list(row.elements), row.stays)


def find_string(bounds: Bounds, literals: frozenset[Literal], budget: "Budget") -> str | None:
    """A string within the bounds that fits all literals, or None if there is none."""
    for guess in _guesses(bounds, literals):
        budget.spend(len(guess) * len(literals) + 1)
        if bounds.admits(guess) and _fits(guess, literals):
            return guess
    ordered = sorted(literals, key=_order)
    if len(ordered) > 2:
        for pair in combinations(ordered, 2):
            if _search(bounds, pair, budget) is None:
                return None
    return _search(bounds, tuple(ordered), budget)


def _order(literal: Literal) -> tuple[int, list[str], int, bool]:
    """Short patterns first, and the same order in every run."""
    elements, stays = literal.row
    return len(elements), [element or "" for element in elements], stays, literal.holds


def _fits(text: str, literals: Iterable[Literal]) -> bool:
    return all(automaton(row).matches(text) is holds for row, holds in literals)


def _guesses(bounds: Bounds, literals: frozenset[Literal]) -> Iterator[str]:
    """Strings that are worth a try: the lower bound, and the wanted patterns in a row."""
    yield bounds.low
    wanted = [row for row, holds in sorted(literals, key=_order) if holds]
    wanted.sort(key=lambda row: row.stays & 1)
    texts = ["".join("a" if e is ANY else e for e in row.elements) for row in wanted]
    for filler in ("", "a", " ", "z"):
        yield filler.join(texts) + filler
        for stem in (bounds.low.rstrip("\0"), bounds.low):
            yield stem + filler
            yield stem + filler + filler.join(texts)
            yield stem + filler + filler.join(reversed(texts))


_DEAD: Final = -1
_DONE: Final = -2


def _search(bounds: Bounds, literals: tuple[Literal, ...], budget: "Budget") -> str | None:
    """A shortest string in the product of all automata, or None."""
    patterns = tuple((automaton(row), holds) for row, holds in literals)
    alphabet = _alphabet(bounds, literals)
    low, high = bounds
    # An empty lower bound is met from the start; so is a missing upper one.
    start = (_DONE if not low else 0, _DONE if high is None else 0, *(p.start for p, _ in patterns))
    if high == "":
        return None
    seen = {start}
    queue: deque[tuple[tuple[int, ...], str]] = deque([(start, "")])
    while queue:
        state, text = queue.popleft()
        if state[0] == _DONE and all(
            pattern.accepts(at) is holds
            for (pattern, holds), at in zip(patterns, state[2:], strict=True)
        ):
            return text
        budget.spend(len(alphabet))
        for character in alphabet:
            following = _step(state, character, low, high, patterns)
            if following is not None and following not in seen:
                seen.add(following)
                queue.append((following, text + character))
    return None


def _step(
    state: tuple[int, ...],
    character: str,
    low: str,
    high: str | None,
    patterns: tuple[tuple[LikePattern, bool], ...],
) -> tuple[int, ...] | None:
    """The state after one more character; None where nothing can be accepted any more."""
    at_low = _step_low(state[0], character, low)
    at_high = _step_high(state[1], character, high)
    if _DEAD in (at_low, at_high):
        return None
    following = [at_low, at_high]
    for (pattern, holds), at in zip(patterns, state[2:], strict=True):
        stepped = pattern.step(at, character)
        if (not stepped) if holds else pattern.accepts_always(stepped):
            return None
        following.append(stepped)
    return tuple(following)


def _step_low(at: int, character: str, low: str) -> int:
    """How many characters equal the lower bound so far; done once the string is above it."""
    if at == _DONE or character > low[at]:
        return _DONE
    if character < low[at]:
        return _DEAD
    return _DONE if at + 1 == len(low) else at + 1


def _step_high(at: int, character: str, high: str | None) -> int:
    """The same for the upper bound: done once below it, dead once it is reached."""
    if at == _DONE or high is None or character < high[at]:
        return _DONE
    if character > high[at] or at + 1 == len(high):
        return _DEAD
    return at + 1


def _alphabet(bounds: Bounds, literals: Iterable[Literal]) -> list[str]:
    """The characters that occur, and one for each gap between them, the readable ones first."""
    occurring = set(bounds.low) | set(bounds.high or "")
    for row, _ in literals:
        occurring.update(element for element in row.elements if element is not ANY)
    points = sorted(map(ord, occurring))
    gaps = zip([-1, *points], [*points, 0x110000], strict=True)
    others = [other for low, high in gaps if (other := _between(low, high)) is not None]
    return sorted((*occurring, *others), key=lambda c: (not c.isalnum(), c))


_READABLE: Final = "aAbBzZ059 _-~é"


def _between(low: int, high: int) -> str | None:
    """A character strictly between two code points, a readable one where there is one."""
    for character in _READABLE:
        if low < ord(character) < high:
            return character
    following = low + 1
    if 0xD800 <= following < 0xE000:
        following = 0xE000
    return chr(following) if following < high else None
