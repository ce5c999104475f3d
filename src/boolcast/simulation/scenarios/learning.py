"""What history would have taught: statistics of a scenario's filters, from its own events.

Brokers that choose by selectivities and do not count themselves are given these, as they would be
given what Spark has learnt from the like of it.
"""

from collections.abc import Iterable
from itertools import islice
from typing import Final

from boolcast.matching.counting.engine import CountingMatcher
from boolcast.model.statistics import Statistics
from boolcast.routing.protocol.stimuli import (
    ClientPublishes,
    ClientSubscribes,
    Request,
)

_EVENTS: Final = 1_000
"""How many events are learnt from at most."""


def learnt(requests: Iterable[Request]) -> Statistics:
    """How many of the events published satisfy each predicate of the filters subscribed to."""
    matcher = CountingMatcher()
    events = []
    for number, request in enumerate(requests):
        if isinstance(request, ClientSubscribes):
            matcher.add(f"{number}", request.filter)
        elif isinstance(request, ClientPublishes):
            events.append(request.event)
    for event in islice(events, _EVENTS):
        matcher.match(event)
    return matcher.statistics()
