"""Random numbers: streams that a seed and a name determine (law 7)."""

from random import Random


def stream(seed: int, name: str) -> Random:
    """Random numbers for one purpose; other purposes do not disturb it."""
    return Random(f"{seed}/{name}")  # noqa: S311 - nothing here is a secret
