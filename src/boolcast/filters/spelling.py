"""Suggestions for misspelt words."""

from collections.abc import Iterable


def suggest(word: str, known: Iterable[str]) -> str | None:
    """`did you mean …?` for the known word that is nearest, or None where none is near."""
    near = nearest(word, known)
    return None if near is None else f"did you mean `{near}`?"


def nearest(word: str, known: Iterable[str], *, likeness: float = 0.6) -> str | None:
    """The known word that is nearest, or None where none is alike enough; case aside."""
    import difflib  # noqa: PLC0415 - only when something went wrong

    spellings = {each.casefold(): each for each in known}
    near = difflib.get_close_matches(word.casefold(), spellings, n=1, cutoff=likeness)
    return spellings[near[0]] if near else None
