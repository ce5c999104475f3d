"""What leaves a client's broker: the whole subscription, or a pruned filter (P1-B8).

The filter is chosen once, when the subscription is made, and is the same for all neighbours. From
then on it is what counts towards them: covering is judged by it (R3), and by it the brokers
beyond know the subscription. Here the client's own filter decides what it gets (R1). Only the
first broker prunes before it sends; the others may prune what came (`rewriting`), which is
theirs to know. So an id stands for the same filter wherever it is heard.
"""

from typing import Protocol

from boolcast.filters.expressions import Filter
from boolcast.optimising.pruning.pre_pruning import pre_prune
from boolcast.optimising.statistics.selectivities import Selectivities
from boolcast.routing.protocol.configuration import SendingSettings


class SendingPolicy(Protocol):
    """Chooses the filter that neighbours get."""

    def filter_to_send(self, filter: Filter, selectivities: Selectivities | None) -> Filter:
        """The filter for neighbours; without selectivities nothing is known yet."""


class Whole:
    """Neighbours get what the client asked for."""

    def __init__(self, settings: SendingSettings) -> None:
        pass

    def filter_to_send(self, filter: Filter, selectivities: Selectivities | None) -> Filter:  # noqa: ARG002
        return filter


class PrePruning:
    """Neighbours get it pruned, as far as its degradation stays small (P1-B8)."""

    def __init__(self, settings: SendingSettings) -> None:
        self._degradation = settings.degradation

    def filter_to_send(self, filter: Filter, selectivities: Selectivities | None) -> Filter:
        if selectivities is None:
            return filter
        return pre_prune(filter, selectivities, degradation=self._degradation)
