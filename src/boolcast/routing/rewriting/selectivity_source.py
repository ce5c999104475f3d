"""Where a broker's selectivities come from: given statistics, or counting.

Both are `model.statistics`. Given ones may come from Spark, which counts past events. The counting
engine counts the events that it matches (P1-B5). It no longer counts predicates that rewriting has
removed from it. Their last counts are kept as long as an entry's original filter has them; when
such a predicate returns, the old counts and the new ones are added up.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple, Protocol, cast

from boolcast.errors import ConfigurationError
from boolcast.filters.canonical import canonical_predicate, to_nnf
from boolcast.filters.expressions import Filter
from boolcast.filters.printing import to_text
from boolcast.model.statistics import Statistics
from boolcast.optimising.statistics.selectivities import Selectivities
from boolcast.routing.protocol.configuration import Configuration

_NEWS: Final = 1.1
"""Use new statistics once they cover 1.1 times as many events."""


class CountingEngine(Protocol):
    """What `matching.counting.engine` offers besides matching."""

    def statistics(self) -> Statistics: ...


class Learning(Protocol):
    """Knows the current selectivities."""

    @property
    def selectivities(self) -> Selectivities | None:
        """What is known so far; None before the first review."""

    @property
    def has_news(self) -> bool:
        """True if there are at least a tenth more events to learn from than last time."""

    def learn(self, rewritten: Iterable[Filter]) -> Selectivities:
        """Learn anew; `rewritten` are the original filters of entries that were rewritten."""


class Unneeded:
    """No policy needs selectivities."""

    selectivities = None
    has_news = False

    def learn(self, rewritten: Iterable[Filter]) -> Selectivities:  # noqa: ARG002
        return Selectivities(Statistics(events=0))


class Given:
    """Given statistics. Raises StatisticsError if they contradict themselves.

    If they have none of a broker's predicates, it rewrites blindly and says so in each report.
    """

    has_news = False

    def __init__(self, statistics: Statistics) -> None:
        self.selectivities = Selectivities(statistics)

    def learn(self, rewritten: Iterable[Filter]) -> Selectivities:  # noqa: ARG002 - all is known
        return self.selectivities


class _Past(NamedTuple):
    """The share of `events` that satisfied a predicate before it left the engine.

    The engine had counted `until` events when the predicate was last found missing.
    """

    share: float
    events: int
    until: int


class Counted:
    """Selectivities that the match engine counts."""

    def __init__(self, engine: CountingEngine) -> None:
        self.selectivities: Selectivities | None = None
        self._engine = engine
        self._known = Statistics(events=0)
        self._past: dict[str, _Past] = {}

    @property
    def has_news(self) -> bool:
        return self._engine.statistics().events >= _NEWS * self._known.events

    def learn(self, rewritten: Iterable[Filter]) -> Selectivities:
        latest = self._engine.statistics()
        kept = {text for filter in rewritten for text in _texts(filter)}
        present = latest.predicates
        left = {text for text in self._known.predicates if text not in present and text in kept}
        returned = {text: past for text, past in self._past.items() if text in present}
        self._past = returned | {text: self._past_of(text, latest.events) for text in left}
        predicates = dict(present)
        for text, past in self._past.items():
            since = latest.events - past.until
            matches = past.share * past.events + (latest.selectivity(text) or 0.0) * since
            predicates[text] = round(matches * latest.events / (past.events + since))
        self._known = Statistics(events=latest.events, predicates=predicates)
        self.selectivities = Selectivities(self._known)
        return self.selectivities

    def _past_of(self, text: str, events: int) -> _Past:
        """What is known of a predicate that is not in the engine."""
        share = self._known.selectivity(text)
        assert share is not None, "it was counted"
        past = self._past.get(text)
        counted = self._known.events
        if past is not None:
            counted = past.events + self._known.events - past.until
        return _Past(share, counted, events)


def learning(
    configuration: Configuration, statistics: Statistics | None, engine: object
) -> Learning:
    """How a broker learns. Raises ConfigurationError if it must learn and cannot."""
    if statistics is not None:
        return Given(statistics)
    if not configuration.policies.needs_selectivities:
        return Unneeded()
    if configuration.engine != "counting":
        raise ConfigurationError(
            f"the engine {configuration.engine!r} counts no predicates, and pruning, replacement"
            " and imperfect merging choose by them: take the engine 'counting', or give statistics",
            rule="P1-B5",
        )
    return Counted(cast("CountingEngine", engine))


def _texts(filter: Filter) -> Iterable[str]:
    for leaf in to_nnf(filter).predicates():
        yield to_text(canonical_predicate(leaf))
