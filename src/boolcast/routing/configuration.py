"""How a broker is set up; what does not go together is refused with the rule that forbids it."""

from math import inf
from typing import Literal

import msgspec

from boolcast.errors import ConfigurationError

Propagation = Literal["flood", "towards"]
Covering = Literal["none", "active", "lazy"]
Unsubscription = Literal["plain", "packing", "incremental", "incremental-packing"]
EngineName = Literal["access", "scan", "counting"]


class Configuration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One broker's policies, by name. All brokers of a network have the same.

    `propagation` says where subscriptions go: to all neighbours (and advertisements stay at
    their publisher's broker), or towards overlapping advertisements (which go everywhere). In
    both, events follow the subscriptions back. `threshold` and `slack` are P4-B5's θ and P4-E1's
    choice at the critical broker, `window_seconds` how long the history of a subscription
    reaches back. `collects_ghosts` off leaves preserved subscriptions for ever, as in the paper.
    `durable` asks for `Persist` effects.

    Raises ConfigurationError.
    """

    propagation: Propagation = "towards"
    covering: Covering = "active"
    advertisement_covering: Covering = "none"
    unsubscription: Unsubscription = "plain"
    engine: EngineName = "access"
    threshold: float = 0.9
    slack: Literal[0, 1] = 1
    window_seconds: float = 600.0
    collects_ghosts: bool = True
    durable: bool = False
    acknowledgement_seconds: float = 30.0

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
        ):
            if is_excluded:
                raise ConfigurationError(problem, rule=rule)
