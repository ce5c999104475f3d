"""What to do with a queued pruning if selectivities have changed since it was queued (P1-B7).

There are three policies, from the cheapest to the most careful: prune regardless, tolerate a
bounded change, or prune only what is still the best.
"""

from collections.abc import Callable
from typing import Final, Literal, Protocol

import msgspec

from boolcast.errors import LimitError


class ChangePolicy(Protocol):
    """Decides about the first entry of the queue."""

    def trusts(self, stored: float, current: Callable[[], float], following: float | None) -> bool:
        """True if the entry may be pruned by its stored degradation.

        `current` computes the degradation anew; `following` is the stored one of the next entry,
        None if there is none. An entry that is not trusted is queued again with its current
        degradation.
        """


class Regardless(msgspec.Struct, frozen=True):
    """Prune by the stored degradation, as the paper's experiments do; computes nothing anew."""

    def trusts(self, stored: float, current: Callable[[], float], following: float | None) -> bool:
        del stored, current, following
        return True


class StillBest(msgspec.Struct, frozen=True):
    """Prune if the current degradation is not above that of the next entry."""

    def trusts(self, stored: float, current: Callable[[], float], following: float | None) -> bool:
        del stored
        return following is None or current() <= following


class Tolerant(msgspec.Struct, frozen=True):
    """Prune if the degradation has changed by no more than `bound`, up or down."""

    bound: float

    def __post_init__(self) -> None:
        if not self.bound >= 0:
            raise LimitError(f"the bound of a change must be at least 0, not {self.bound}")

    def trusts(self, stored: float, current: Callable[[], float], following: float | None) -> bool:
        del following
        return abs(current() - stored) <= self.bound


Change = Literal["regardless", "still-best", "tolerant"]

CHANGES: Final[dict[Change, Callable[[float], ChangePolicy]]] = {
    "regardless": lambda bound: Regardless(),
    "still-best": lambda bound: StillBest(),
    "tolerant": Tolerant,
}
"""The policies by name; only `tolerant` uses the bound."""
