"""How many examples a property takes that needs another number than the profile gives."""

from hypothesis import settings

USUAL = 50
"""Those of the profile `default`."""


def examples(count: int) -> settings:
    """So many in `make test` and in the long part, fewer in the fast one as with all others."""
    chosen = settings.default.max_examples  # type: ignore[union-attr]
    return settings(max_examples=max(count * min(chosen, USUAL) // USUAL, 1))
