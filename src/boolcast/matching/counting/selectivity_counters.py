"""Selectivity counters (P1-B5): how many of the events seen satisfied each predicate."""

from collections.abc import Sequence

import numpy as np

from boolcast.model.statistics import Statistics


class SelectivityCounters:
    """Counters for a row of predicates, named by their canonical texts.

    `events` have been seen; predicate i joined after `joined[i]` of them, and `matches[i]` of
    the others satisfied it. A row that follows another takes over its history; a predicate that
    is new to it joins now.
    """

    def __init__(
        self, predicates: Sequence[str], former: "SelectivityCounters | None" = None
    ) -> None:
        self.positions = {predicate: position for position, predicate in enumerate(predicates)}
        self.events: int = former.events if former else 0
        self.matches = np.zeros(len(predicates), dtype=np.int64)
        self.joined = np.full(len(predicates), self.events, dtype=np.int64)
        if former:
            shared = self.positions.keys() & former.positions.keys()
            here = [self.positions[predicate] for predicate in shared]
            there = [former.positions[predicate] for predicate in shared]
            self.matches[here] = former.matches[there]
            self.joined[here] = former.joined[there]

    def statistics(self) -> Statistics:
        """The history as data.

        Matches of a predicate that joined late are scaled up to all events, so that its
        selectivity is its share of the events since; one without such events is left out.
        """
        counted = self.events - self.joined
        return Statistics(
            events=self.events,
            predicates={
                predicate: matches if since == self.events else round(matches * self.events / since)
                for predicate, matches, since in zip(
                    self.positions, self.matches.tolist(), counted.tolist(), strict=True
                )
                if since
            },
        )
