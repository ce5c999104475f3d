"""Few configurations among many in which every two, or three, choices occur together.

Most faults of policies that do not get on with each other take two of them, few take three: so
such a choice finds nearly all that trying everything does.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations as chosen_of
from random import Random
from typing import Final

from boolcast.routing.protocol.configuration import Configuration, settings_of

AXES: Final[dict[str, tuple[str, ...]]] = {
    **{
        name: (name,)
        for name in (
            *("propagation", "covering", "covering.advertisements", "unsubscription"),
            *("propagation.overlap", "unsubscription.threshold", "unsubscription.slack"),
            *("unsubscription.collects_ghosts", "sending"),
        )
    },
    "rewriting": (
        *("rewriting", "memory_target", "false_positive_budget"),
        "rewriting.stops_at_cut_off",
    ),
    "merging": (
        *("merging", "merging.imperfection", "merging.imperfection_of"),
        "merging.dropped_predicates",
    ),
    "merging moment": ("merging.moment", "merging.starts_at"),
    "advertisements": (
        *("advertisement_rewriting", "advertisement_rewriting.memory_target"),
        *("advertisement_rewriting.rank_budget", "advertisement_rewriting.stops_at_cut_off"),
    ),
}
"""What is chosen independently, and the fields that make up the choice."""

Choice = tuple[str, object]


def choices(configuration: Configuration) -> tuple[Choice, ...]:
    """What a configuration has chosen on each axis."""
    settings = settings_of(configuration)
    return tuple(
        (axis, tuple(settings[field] for field in fields)) for axis, fields in AXES.items()
    )


def groups(configurations: Iterable[Configuration], strength: int) -> set[tuple[Choice, ...]]:
    """Every so many choices that occur together in one of them."""
    found: set[tuple[Choice, ...]] = set()
    for each in configurations:
        found.update(chosen_of(choices(each), strength))
    return found


def covering_array(
    configurations: Sequence[Configuration], strength: int, *, seed: int
) -> list[Configuration]:
    """Some of them, so that whatever so many choices occur together in one do in one of these.

    Greedy: whoever brings much that is new comes first, in a random order.
    """
    numbers: dict[Choice, int] = {}
    rows = [
        tuple(sorted(numbers.setdefault(each, len(numbers)) for each in choices(configuration)))
        for configuration in configurations
    ]
    order = list(range(len(rows)))
    Random(seed).shuffle(order)
    array: list[int] = []
    seen: set[tuple[int, ...]] = set()
    least = len(list(chosen_of(AXES, strength)))
    while True:
        rest = []
        for place in order:
            new = [each for each in chosen_of(rows[place], strength) if each not in seen]
            if len(new) >= least:
                seen.update(new)
                array.append(place)
            elif new:
                rest.append(place)
        if least == 1:
            return [configurations[place] for place in array]
        order, least = rest, least * 3 // 4
