"""LIKE patterns as automata: what the evaluator runs and the algebra multiplies.

A pattern is a row of elements, each one character or `_`, with `%` between some of them.
The automaton's state is a set of positions in that row, kept as the bits of an integer:
bit i stands for "the first i elements have been read". Reading a character shifts the bits
whose element it fits; a bit where `%` stands also stays. A bit below the highest staying one
can be dropped, because whatever is accepted from there is accepted from the higher one too;
that keeps the reachable states few.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

ANY: Final = None
"""The element `_`."""


class LikePattern(NamedTuple):
    """One compiled pattern; `start` is the first state, `step` and `accepts` do the rest."""

    elements: tuple[str | None, ...]
    stays: int
    fits_any: int
    fits: Mapping[str, int]

    @classmethod
    def parse(cls, pattern: str, escape: str = "") -> "LikePattern":
        """Read a pattern. Raises ValueError where the escape character is misused.

        Short patterns are cached: an evaluator uses the same few again and again.
        """
        read = _read_and_keep if len(pattern) <= _KEPT_LENGTH else _read
        return read(pattern, escape)

    @classmethod
    def compile(cls, elements: list[str | None], stays: int) -> "LikePattern":
        """The automaton of elements with `%` before those whose bit is set in `stays`."""
        fits_any = 0
        fits: dict[str, int] = {}
        for index, element in enumerate(elements):
            if element is ANY:
                fits_any |= 1 << index
            else:
                fits[element] = fits.get(element, 0) | 1 << index
        return cls(tuple(elements), stays, fits_any, fits)

    @property
    def start(self) -> int:
        return 1

    def step(self, state: int, character: str) -> int:
        """The state after one more character; 0 is the state without a way out."""
        moved = (state & (self.fits_any | self.fits.get(character, 0))) << 1
        state = moved | (state & self.stays)
        anchor = (state & self.stays).bit_length() - 1
        return state >> anchor << anchor if anchor > 0 else state

    def accepts(self, state: int) -> bool:
        """True if the string may end here."""
        return bool(state >> len(self.elements) & 1)

    def accepts_always(self, state: int) -> bool:
        """True if the string may go on in any way from here."""
        return self.accepts(state) and bool(self.stays >> len(self.elements) & 1)

    def matches(self, text: str) -> bool:
        """True if the whole text fits the pattern.

        The time is linear in the text, and without `_` nearly independent of the pattern.

        >>> LikePattern.parse("Harry%_otter").matches("Harry J. Potter")
        True
        """
        if not self.fits_any:
            return _fits(self._segments(), text)
        state = self.start
        for character in text:
            state = self.step(state, character)
            if not state:
                return False
        return self.accepts(state)

    def _segments(self) -> list[str]:
        """The texts between the `%`s of a pattern without `_`."""
        segments: list[str] = []
        begin = 0
        for index in range(len(self.elements) + 1):
            if self.stays >> index & 1:
                segments.append("".join(self.elements[begin:index]))  # type: ignore[arg-type]
                begin = index
        return [*segments, "".join(self.elements[begin:])]  # type: ignore[arg-type]


_KEPT_LENGTH: Final = 256
"""An automaton takes up to n² / 8 bytes for n characters, so that a long one is not kept."""


def _read(pattern: str, escape: str) -> LikePattern:
    if len(escape) > 1:
        raise ValueError("the escape must be a single character")
    elements: list[str | None] = []
    stays = 0
    characters = iter(pattern)
    for character in characters:
        if character == escape:
            escaped = next(characters, "")
            if escaped not in ("%", "_", escape):
                raise ValueError(f"the escape {escape!r} must be followed by %, _ or itself")
            elements.append(escaped)
        elif character == "%":
            stays |= 1 << len(elements)
        else:
            elements.append(ANY if character == "_" else character)
    return LikePattern.compile(elements, stays)


_read_and_keep: Final = lru_cache(maxsize=1_024)(_read)


def _fits(segments: list[str], text: str) -> bool:
    """True if the text is the segments in a row with any text between them.

    The first and the last are at the ends, and the others are searched from the left: what fits
    with a later occurrence also fits with the first.
    """
    if len(segments) == 1:
        return text == segments[0]
    first, *middle, last = segments
    position, end = len(first), len(text) - len(last)
    if position > end or not text.startswith(first) or not text.endswith(last):
        return False
    for segment in middle:
        found = text.find(segment, position, end)
        if found < 0:
            return False
        position = found + len(segment)
    return True
