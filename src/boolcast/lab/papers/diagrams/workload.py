"""The two sets of subscriptions of P2, and events that are built to match a filter (P2-X1, P2-X6).

Hardly any event drawn at random matches a filter of these sets, so checks 7 and 9 need others.
The reference evaluator always decides what an event is accepted by.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from typing import Final, Literal, NamedTuple

import msgspec
import pyarrow as pa

from boolcast.filters.expressions import Comparison, Filter, Leaf
from boolcast.model.events import Event
from boolcast.model.identifiers import SubscriptionId
from boolcast.optimising.merging.by_rules import MergingRules, Threshold
from boolcast.optimising.merging.groups import AttributeOrder
from boolcast.optimising.merging.merger_imperfection import Advertised, AllEvents, Audience
from boolcast.optimising.statistics.probabilities import Uniform
from boolcast.workloads.pairs import PAIR_SETS, Pairs

SetName = Literal["A", "B"]

FULL: Final = 200_000
"""The subscriptions for which a set has its number of pairs."""

PROVEN: Final = 5_000
"""The number of events that are built so that a subscription accepts them."""

LEARNT: Final = 4_096
"""The number of subscriptions that the order of attributes is learnt from."""

_ERRORS: Final = 3.0
_EXPECTED: Final = 5.0
"""With fewer expected false positives, a measured rate says nothing about a single merger."""

Members = dict[str, int]


def pairs_of(name: SetName, subscriptions: int, seed: int) -> Pairs:
    """A set with as many subscriptions for each pair as at full size."""
    whole = PAIR_SETS[name]
    pairs = max(round(whole.pairs * subscriptions / FULL), 1)
    return Pairs(msgspec.structs.replace(whole, pairs=pairs), seed=seed)


def filters_of(pairs: Pairs, count: int) -> dict[SubscriptionId, Filter]:
    """The first subscriptions by name."""
    filters = pairs.subscription_filters(0, count)
    return {SubscriptionId(f"s{number}"): each for number, each in enumerate(filters)}


def rules_of(
    pairs: Pairs,
    order: Sequence[str],
    threshold: float | None = None,
    advertisements: Sequence[Filter] = (),
) -> MergingRules:
    """The rules: perfect without a threshold, by definition 2 if there are advertisements."""
    names = AttributeOrder(order)
    if threshold is None:
        return MergingRules(names, schema=pairs.schema)
    probabilities = Uniform.of_schema(pairs.schema)
    audience: Audience = AllEvents(probabilities)
    if advertisements:
        audience = Advertised(probabilities, advertisements)
    return MergingRules(names, schema=pairs.schema, threshold=Threshold(threshold, audience))


def accepted_events(pairs: Pairs, filters: Sequence[Filter], count: int) -> pa.Table:
    """Up to `count` events, each of which a subscription accepts."""
    options: dict[Leaf, list[int]] = {}
    made: list[Members] = []
    drawn = pairs.events(0, count).to_pylist()
    for filter, event in zip(filters[:: max(len(filters) // count, 1)], drawn, strict=False):
        members = _with_equalities(filter, event)
        for leaf in _others(filter):
            if leaf not in options:
                numbers = range(1, pairs.sizes[leaf.attribute] + 1)
                options[leaf] = [
                    number for number in numbers if leaf.accepts(Event({leaf.attribute: number}))
                ]
            if options[leaf]:
                chosen = event[leaf.attribute] % len(options[leaf])
                members[leaf.attribute] = options[leaf][chosen]
        if filter.accepts(Event(members)):
            made.append(members)
    return pa.Table.from_pylist(made, schema=pairs.events(0, 1).schema)


class Judged(NamedTuple):
    """Mergers with enough expected false positives to judge, and those too far from them."""

    telling: int
    apart: int


def judged(
    mergers: Iterable[tuple[Filter, Sequence[Filter], float]],
    advertised: Filter,
    pairs: Pairs,
    events: Sequence[Members],
) -> Judged:
    """Test mergers, with their constituents and imperfections, on events that share their tail.

    Attributes are independent, so the expected share of false positives among such events is the
    imperfection divided by the probability of the tail. More than three standard errors is too
    far.
    """
    telling = apart = 0
    for filter, constituents, imperfection in mergers:
        tail = 1.0
        for leaf in _equalities(filter):
            tail /= pairs.sizes[leaf.attribute]
        share = imperfection / tail
        mean = share * len(events)
        if mean < _EXPECTED:
            continue
        false = sum(
            _is_false(filter, constituents, advertised, Event(_with_equalities(filter, event)))
            for event in events
        )
        telling += 1
        apart += abs(false - mean) > _ERRORS * sqrt(mean * max(1 - share, 0.0))
    return Judged(telling, apart)


def _is_false(
    filter: Filter, constituents: Sequence[Filter], advertised: Filter, event: Event
) -> bool:
    """True if the event passes but should not."""
    return (
        filter.accepts(event)
        and advertised.accepts(event)
        and not any(each.accepts(event) for each in constituents)
    )


def _with_equalities(filter: Filter, event: Mapping[str, int]) -> Members:
    """The event with the values that the filter requires."""
    asked = {leaf.attribute: leaf.value for leaf in _equalities(filter)}
    return {**event, **asked}  # type: ignore[dict-item]


def _equalities(filter: Filter) -> list[Comparison]:
    return [leaf for leaf in filter.predicates() if _is_equality(leaf)]  # type: ignore[misc]


def _others(filter: Filter) -> list[Leaf]:
    return [leaf for leaf in filter.predicates() if not _is_equality(leaf)]


def _is_equality(leaf: object) -> bool:
    return isinstance(leaf, Comparison) and leaf.operator == "="
