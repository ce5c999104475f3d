"""How a broker is set up; what does not go together is refused with the rule that forbids it."""

from math import inf
from typing import Literal

import msgspec

from boolcast.errors import ConfigurationError
from boolcast.model.schemas import Schema
from boolcast.optimising.pruning.changes import Change

Propagation = Literal["flood", "towards"]
Covering = Literal["none", "active", "lazy"]
CoveringTest = Literal["proofs", "diagrams"]
Unsubscription = Literal["plain", "packing", "incremental", "incremental-packing"]
Rewriting = Literal["none", "pruning", "replacement"]
AdvertisementRewriting = Literal["none", "pruning"]
Sending = Literal["whole", "pruned"]
Merging = Literal["none", "pruning", "perfect", "imperfect"]
MergingMoment = Literal["review", "entries", "group-size"]
OverlapTest = Literal["exact", "index", "index-exact"]
EngineName = Literal["access", "scan", "counting", "mbd"]


class Configuration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One broker's policies, by name. All brokers of a network have the same.

    `propagation` says where subscriptions go: to all neighbours (and advertisements stay at
    their publisher's broker), or towards overlapping advertisements (which go everywhere). In
    both, events follow the subscriptions back. `overlap` says how it is found out what overlaps:
    by proving pairs, by the index of violating predicates (P3-B4), which may find too much, or by
    both, so that the proof removes what the index found wrongly. `covering_by` says how it is
    found out what covers, of subscriptions and of advertisements: by proving pairs, or by decision
    diagrams (P2-B5), which order attributes as `attribute_order` says. `threshold` and `slack` are
    P4-B5's θ and P4-E1's choice at the critical broker, `window_seconds` how long the history of
    a subscription reaches back. `collects_ghosts` off leaves preserved subscriptions for ever, as
    in the paper. `durable` asks for `Persist` effects.

    `rewriting` says in which form entries of neighbours are matched, `sending` in which form a
    client's subscription goes to neighbours, `merging` which entries of a neighbour become one.
    All three choose by selectivities, which the counting engine learns if none are given; only
    perfect merging needs none. The broker reviews its entries after every `review_events`
    events, if any have come or gone.
    Rewriting goes on as long as no limit says otherwise: `memory_target` is a number of
    predicates of neighbours' entries, `false_positive_budget` an expected share of all events,
    `stops_at_cut_off` P1-X1's. `changes` and `change_bound` are P1-B7's ways with selectivities
    that have changed. `degradation` is how much more general a form that is sent may be
    (P1-B6), `imperfection` P2-B11's IMT of a merger, `merger_size` how many become one at most
    by pruning.

    Merging by rules, perfect or imperfect, is P2-B10's. It goes by an `attribute_order` from the
    top to the bottom, or by one that it finds itself. A `schema` of events makes more mergers
    perfect. `imperfection_of` says what is imperfect: what all events are expected to do
    (definition 1), or only those that somebody has advertised (definition 2).
    `dropped_predicates` is how many may be left out for a merger, 0 to 2. `merging_moment` says
    when there is merging at all: with every review, or with those that find so many entries of
    a neighbour as `merging_starts_at` says, or so many in a group on average.

    `advertisement_rewriting` says in which form advertisements of neighbours are asked for
    overlaps (P3-B5). `advertisement_memory_target` is a number of their predicates, `rank_budget`
    the part of their overlapping rank that may be lost (P3-B6), `advertisements_stop_at_cut_off`
    P3-X4's.

    Raises ConfigurationError.
    """

    propagation: Propagation = "towards"
    covering: Covering = "active"
    advertisement_covering: Covering = "none"
    covering_by: CoveringTest = "proofs"
    overlap: OverlapTest = "index-exact"
    unsubscription: Unsubscription = "plain"
    rewriting: Rewriting = "none"
    advertisement_rewriting: AdvertisementRewriting = "none"
    sending: Sending = "whole"
    merging: Merging = "none"
    engine: EngineName = "access"
    threshold: float = 0.9
    slack: Literal[0, 1] = 1
    window_seconds: float = 600.0
    collects_ghosts: bool = True
    durable: bool = False
    acknowledgement_seconds: float = 30.0
    review_events: int = 1_000
    memory_target: int | None = None
    false_positive_budget: float | None = None
    stops_at_cut_off: bool = False
    changes: Change = "regardless"
    change_bound: float = 0.0
    degradation: float = 0.01
    imperfection: float = 0.01
    merger_size: int = 8
    imperfection_of: Literal["events", "advertised"] = "events"
    dropped_predicates: int = 0
    merging_moment: MergingMoment = "review"
    merging_starts_at: float = 0.0
    attribute_order: tuple[str, ...] = ()
    schema: Schema | None = None
    advertisement_memory_target: int | None = None
    rank_budget: float | None = None
    advertisements_stop_at_cut_off: bool = False

    @property
    def needs_selectivities(self) -> bool:
        """True if a policy chooses by them."""
        is_merging = self.merging in ("pruning", "imperfect")
        others = self.rewriting, self.sending, self.advertisement_rewriting
        return is_merging or others != ("none", "whole", "none")

    @property
    def reviews(self) -> bool:
        """True if entries are looked at anew from time to time."""
        return self.needs_selectivities or self.merging != "none"

    def __post_init__(self) -> None:
        for is_excluded, problem, rule in (
            (
                self.unsubscription != "plain" and self.covering == "none",
                (
                    f"unsubscription {self.unsubscription!r} needs covering: without it no"
                    " subscription waits for another one to go"
                ),
                "P4-B3" if self.unsubscription == "packing" else "P4-B6",
            ),
            (
                self.unsubscription.startswith("incremental") and self.propagation == "flood",
                (
                    "incremental unsubscription needs advertisements everywhere: a pruning distance"
                    " belongs to one of them, so propagation must be 'towards'"
                ),
                "P4-B5",
            ),
            (
                self.advertisement_covering != "none" and self.propagation == "flood",
                (
                    "advertisement covering needs advertisements that travel, so propagation"
                    " must be 'towards'"
                ),
                "P2-B9",
            ),
            (
                self.covering_by != "proofs"
                and self.covering == self.advertisement_covering == "none",
                "covering by diagrams needs something that is covered: covering is 'none'",
                "P2-B5",
            ),
            (
                not 0.0 <= self.threshold <= 1.0,
                f"the threshold is a share between 0 and 1, not {self.threshold}",
                "P4-B5",
            ),
            (
                not self.window_seconds >= 0.0,
                f"a history reaches back 0 s or more, not {self.window_seconds}",
                "P4-B5",
            ),
            (
                # Late ones are looked for as often.
                not 0.01 <= self.acknowledgement_seconds < inf,
                (
                    "an acknowledgement has 0.01 s or more before it is late, not"
                    f" {self.acknowledgement_seconds}"
                ),
                "P2-B8",
            ),
            *self._excluded_rewriting(),
            *self._excluded_merging(),
            *self._excluded_advertisement_rewriting(),
        ):
            if is_excluded:
                raise ConfigurationError(problem, rule=rule)

    def _excluded_rewriting(self) -> tuple[tuple[bool, str, str], ...]:
        is_limited = self.memory_target is not None or self.false_positive_budget is not None
        return (
            (
                self.rewriting == "none" and (is_limited or self.stops_at_cut_off),
                "a limit of rewriting needs something to limit: rewriting is 'none'",
                "P1-B7",
            ),
            (
                self.rewriting == "replacement" and self.stops_at_cut_off,
                "the cut-off is one of prunings: for replacement take a target or a budget",
                "P1-B11",
            ),
            (
                not _is_number(self.memory_target or 0, 0),
                f"a number of predicates starts at 0, and this is {self.memory_target}",
                "P1-B7",
            ),
            (
                not 0.0 <= (self.false_positive_budget or 0.0) <= 1.0,
                f"a budget is a share of events from 0 to 1, not {self.false_positive_budget}",
                "P1-B7",
            ),
            (
                not self.change_bound >= 0.0,
                f"the bound of a change is a number from 0 on, not {self.change_bound}",
                "P1-B7",
            ),
            (
                not _is_number(self.review_events, 1),
                f"a review comes after one event at least, not after {self.review_events}",
                "P1-B7",
            ),
            (
                not 0.0 <= self.degradation <= 1.0,
                f"a degradation lies between 0 and 1, and this is {self.degradation}",
                "P1-B8",
            ),
        )

    def _excluded_merging(self) -> tuple[tuple[bool, str, str], ...]:
        return (
            (
                not 0.0 <= self.imperfection <= 1.0,
                f"an imperfection lies between 0 and 1, and this is {self.imperfection}",
                "P2-B11",
            ),
            (
                not _is_number(self.merger_size, 2),
                f"a merger has two constituents at least, not {self.merger_size}",
                "P1-B9",
            ),
            (
                self.imperfection_of == "advertised" and self.merging != "imperfect",
                "only imperfect merging asks what is advertised",
                "P2-B11",
            ),
            (
                self.imperfection_of == "advertised" and self.propagation == "flood",
                (
                    "an imperfection of what is advertised needs advertisements that travel, so"
                    " propagation must be 'towards'"
                ),
                "P2-B11",
            ),
            (
                not 0 <= self.dropped_predicates <= (2 if self.merging == "imperfect" else 0),
                (
                    "imperfect merging may drop 0 to 2 predicates, and other merging none, not"
                    f" {self.dropped_predicates}"
                ),
                "P2-B10",
            ),
            (
                self.merging_moment != "review" and self.merging == "none",
                "a moment of merging needs something to begin: merging is 'none'",
                "P2-B10",
            ),
            (
                not self.merging_starts_at >= (0.0 if self.merging_moment == "review" else 1.0)
                or (self.merging_moment == "review" and self.merging_starts_at > 0.0),
                (
                    "merging starts with every review, or at a number of entries or a group size"
                    f" from 1 on, not at {self.merging_starts_at}"
                ),
                "P2-B10",
            ),
        )

    def _excluded_advertisement_rewriting(self) -> tuple[tuple[bool, str, str], ...]:
        is_limited = (
            self.advertisement_memory_target is not None
            or self.rank_budget is not None
            or self.advertisements_stop_at_cut_off
        )
        return (
            (
                self.advertisement_rewriting != "none" and self.propagation == "flood",
                ("pruned advertisements need some that travel, so propagation must be 'towards'"),
                "P3-B9",
            ),
            (
                self.advertisement_rewriting == "none" and is_limited,
                (
                    "a limit of advertisement pruning needs something to limit:"
                    " advertisement_rewriting is 'none'"
                ),
                "P3-B8",
            ),
            (
                not _is_number(self.advertisement_memory_target or 0, 0),
                (
                    "a number of predicates starts at 0, and this is"
                    f" {self.advertisement_memory_target}"
                ),
                "P3-B8",
            ),
            (
                not 0.0 <= (self.rank_budget or 0.0) <= 1.0,
                f"a budget is a part of the rank from 0 to 1, not {self.rank_budget}",
                "P3-B8",
            ),
        )


def _is_number(value: object, least: int) -> bool:
    """True of whole numbers from `least` on; a constructor lets pass whatever it is given."""
    return isinstance(value, int) and value >= least
