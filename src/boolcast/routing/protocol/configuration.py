"""How a broker is set up.

An operator sets six fields of `Configuration`: a preset and five numbers and switches. A researcher
sets every policy one by one with `Policies`, which has one group of settings for each thing that a
broker decides. `configure` builds a configuration from paths such as `unsubscription.threshold`.

A value that a setting cannot have raises ConfigurationError with the path, the value and what is
allowed. Settings that exclude each other raise it with the rule that forbids them. A group checks
its own settings, `Policies` checks across groups.
"""

from collections.abc import Mapping
from functools import cache
from math import inf
from types import NoneType
from typing import Any, Final, Literal, get_args, get_origin

import msgspec
from msgspec.structs import asdict, astuple, fields, replace

from boolcast.errors import ConfigurationError
from boolcast.model.schemas import Schema
from boolcast.optimising.pruning.changes import Change

EngineName = Literal["access", "scan", "counting", "mbd"]
Propagation = Literal["flood", "towards"]
OverlapTest = Literal["exact", "index", "index-exact"]
Covering = Literal["none", "active", "lazy"]
CoveringTest = Literal["proofs", "diagrams"]
Unsubscription = Literal["plain", "packing", "incremental", "incremental-packing"]
Rewriting = Literal["none", "pruning", "replacement"]
Sending = Literal["whole", "pruned"]
Merging = Literal["none", "pruning", "perfect", "imperfect"]
MergingMoment = Literal["review", "entries", "group-size"]
AdvertisementRewriting = Literal["none", "pruning"]
Preset = Literal[
    "flood",
    "none",
    "active",
    "lazy",
    "packing",
    "incremental",
    "incremental-packing",
    "pruning",
    "replacement",
    "pre-pruning",
    "merging",
    "perfect-merging",
    "imperfect-merging",
    "advertisement-pruning",
    "custom",
]

_TYPES: Final[dict[Any, str]] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    tuple[str, ...]: "a list of texts",
}


def _allowed(type_: Any) -> str:
    """The values of a type, in words."""
    if get_origin(type_) is Literal:
        *others, last = map(repr, get_args(type_))
        return f"{', '.join(others)} or {last}"
    if NoneType in get_args(type_):
        (type_,) = set(get_args(type_)) - {NoneType}
    return _TYPES.get(type_) or f"of type {type_.__name__}"


@cache
def _types_of(settings: type[msgspec.Struct]) -> dict[str, Any]:
    return {field.name: field.type for field in fields(settings)}


def _converted(path: str, value: object, type_: Any, *, strict: bool) -> Any:
    """The value as one of this type, if it is one; texts are read unless `strict`."""
    try:
        return msgspec.convert(value, type_, strict=strict)
    except msgspec.ValidationError:
        raise ConfigurationError(f"{path} is {_allowed(type_)}, not {value!r}") from None


@cache
def _unchecked(settings: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """The same fields without the checks, as an array: conversion to it is fast."""
    return msgspec.defstruct(settings.__name__, _types_of(settings).items(), array_like=True)


def _check_types(settings: msgspec.Struct, group: str = "") -> None:
    # A constructor lets any value pass.
    try:
        msgspec.convert(astuple(settings), _unchecked(type(settings)))
    except msgspec.ValidationError:
        for name, type_ in _types_of(type(settings)).items():
            path = f"{group}.{name}" if group else name
            _converted(path, getattr(settings, name), type_, strict=True)
        raise


def _check_share(path: str, value: float, *, rule: str) -> None:
    if not 0.0 <= value <= 1.0:
        raise ConfigurationError(f"{path} is a share from 0 to 1, not {value}", rule=rule)


def _check_count(path: str, value: int, *, least: int, rule: str) -> None:
    if value < least:
        raise ConfigurationError(
            f"{path} is a whole number from {least} on, not {value}", rule=rule
        )


class PropagationSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where subscriptions go.

    `flood` sends subscriptions to all neighbours and keeps advertisements at their publisher's
    broker. `towards` sends advertisements everywhere, and subscriptions towards the advertisements
    they overlap with. `overlap` is the test for that: a proof for each pair, the index of
    violating predicates (P3-B4), which may find too many, or the index and then a proof.
    """

    kind: Propagation = "towards"
    overlap: OverlapTest = "index-exact"

    def __post_init__(self) -> None:
        _check_types(self, "propagation")


class CoveringSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which subscriptions and advertisements a neighbour need not hear because another covers them.

    `kind` is for subscriptions. `test` finds coverings by a proof for each pair or by decision
    diagrams (P2-B5), whose variables follow `attribute_order`.
    """

    kind: Covering = "active"
    advertisements: Covering = "none"
    test: CoveringTest = "proofs"
    attribute_order: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_types(self, "covering")
        if self.test != "proofs" and self.kind == self.advertisements == "none":
            raise ConfigurationError(
                f"covering.test {self.test!r} needs something that can be covered, and"
                " covering.kind and covering.advertisements are 'none'",
                rule="P2-B5",
            )


class UnsubscriptionSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far a removal travels, and how the subscriptions it uncovers travel with it.

    The rest is for incremental removal: `threshold` is P4-B5's θ, `slack` P4-E1's choice at the
    critical broker, `window_seconds` the length of a subscription's history. Without
    `collects_ghosts`, preserved subscriptions stay for ever, as in the paper.
    """

    kind: Unsubscription = "plain"
    threshold: float = 0.9
    slack: Literal[0, 1] = 1
    window_seconds: float = 600.0
    collects_ghosts: bool = True

    @property
    def is_incremental(self) -> bool:
        """True if a removal may end before it has reached every broker."""
        return self.kind.startswith("incremental")

    def __post_init__(self) -> None:
        _check_types(self, "unsubscription")
        _check_share("unsubscription.threshold", self.threshold, rule="P4-B5")
        if not self.window_seconds >= 0.0:
            raise ConfigurationError(
                f"unsubscription.window_seconds is 0 or more, not {self.window_seconds}",
                rule="P4-B5",
            )


class RewritingSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How subscriptions of neighbours are simplified for matching.

    Rewriting goes on until a limit stops it: the `memory_target` or `false_positive_budget` of the
    configuration, or P1-X1's cut-off.
    """

    kind: Rewriting = "none"
    stops_at_cut_off: bool = False

    def __post_init__(self) -> None:
        _check_types(self, "rewriting")
        if self.stops_at_cut_off and self.kind == "none":
            raise ConfigurationError(
                "rewriting.stops_at_cut_off limits nothing: rewriting.kind is 'none'", rule="P1-B7"
            )
        if self.stops_at_cut_off and self.kind == "replacement":
            raise ConfigurationError(
                "rewriting.stops_at_cut_off is for pruning: with rewriting.kind 'replacement' set"
                " memory_target or false_positive_budget",
                rule="P1-B11",
            )


class SendingSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What neighbours get of a client's subscription: all of it, or a pruned filter (P1-B8).

    `degradation` limits how much more general the pruned filter may be (P1-B6).
    """

    kind: Sending = "whole"
    degradation: float = 0.01

    def __post_init__(self) -> None:
        _check_types(self, "sending")
        _check_share("sending.degradation", self.degradation, rule="P1-B8")


class MergingSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which subscriptions of one neighbour become one.

    `pruning` merges up to `size` of them (P1-B9). `perfect` and `imperfect` merge by P2-B10's
    rules, from the top of `attribute_order` down, or of an order that merging finds itself. A
    `schema` of events makes more mergers perfect.

    `imperfection` is P2-B11's IMT: the share of events that a merger may accept for nothing, of all
    events (definition 1) or of the advertised ones (definition 2), as `imperfection_of` says.
    `dropped_predicates` (0 to 2) may be left out for a merger. `moment` and `starts_at` say when to
    merge: at every review, or once a neighbour has that many entries, or that many per group.
    """

    kind: Merging = "none"
    imperfection: float = 0.01
    imperfection_of: Literal["events", "advertised"] = "events"
    size: int = 8
    dropped_predicates: int = 0
    moment: MergingMoment = "review"
    starts_at: float = 0.0
    attribute_order: tuple[str, ...] = ()
    schema: Schema | None = None

    def __post_init__(self) -> None:
        _check_types(self, "merging")
        _check_share("merging.imperfection", self.imperfection, rule="P2-B11")
        _check_count("merging.size", self.size, least=2, rule="P1-B9")
        if self.imperfection_of == "advertised" and self.kind != "imperfect":
            raise ConfigurationError(
                "merging.imperfection_of 'advertised' needs merging.kind 'imperfect',"
                f" not {self.kind!r}",
                rule="P2-B11",
            )
        if not 0 <= self.dropped_predicates <= (2 if self.kind == "imperfect" else 0):
            raise ConfigurationError(
                "merging.dropped_predicates is 0 to 2 for merging.kind 'imperfect' and 0 for"
                f" others, not {self.dropped_predicates}",
                rule="P2-B10",
            )
        if self.moment != "review" and self.kind == "none":
            raise ConfigurationError(
                f"merging.moment {self.moment!r} starts nothing: merging.kind is 'none'",
                rule="P2-B10",
            )
        if not (self.starts_at == 0.0 if self.moment == "review" else self.starts_at >= 1.0):
            raise ConfigurationError(
                "merging.starts_at is 0 for merging.moment 'review' and 1 or more for others,"
                f" not {self.starts_at}",
                rule="P2-B10",
            )


class AdvertisementRewritingSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How advertisements of neighbours are simplified for the overlap test (P3-B5).

    Pruning goes on until a limit stops it: `memory_target` predicates are left, `rank_budget` of
    the overlapping rank is lost (P3-B6), or P3-X4's cut-off is reached.
    """

    kind: AdvertisementRewriting = "none"
    memory_target: int | None = None
    rank_budget: float | None = None
    stops_at_cut_off: bool = False

    def __post_init__(self) -> None:
        _check_types(self, "advertisement_rewriting")
        for name in ("memory_target", "rank_budget", "stops_at_cut_off"):
            if self.kind == "none" and getattr(self, name) not in (None, False):
                raise ConfigurationError(
                    f"advertisement_rewriting.{name} limits nothing:"
                    " advertisement_rewriting.kind is 'none'",
                    rule="P3-B8",
                )
        _check_count(
            "advertisement_rewriting.memory_target", self.memory_target or 0, least=0, rule="P3-B8"
        )
        _check_share("advertisement_rewriting.rank_budget", self.rank_budget or 0.0, rule="P3-B8")


class ReviewSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When a broker reviews its entries, to merge and rewrite them.

    It does so after every `events` events, if entries have come or gone. `changes` and
    `change_bound` say what happens to planned prunings when selectivities change (P1-B7).
    """

    events: int = 1_000
    changes: Change = "regardless"
    change_bound: float = 0.0

    def __post_init__(self) -> None:
        _check_types(self, "reviews")
        _check_count("reviews.events", self.events, least=1, rule="P1-B7")
        if not self.change_bound >= 0.0:
            raise ConfigurationError(
                f"reviews.change_bound is 0 or more, not {self.change_bound}", rule="P1-B7"
            )


class Policies(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Every policy of a broker, by what it decides."""

    propagation: PropagationSettings = PropagationSettings()
    covering: CoveringSettings = CoveringSettings()
    unsubscription: UnsubscriptionSettings = UnsubscriptionSettings()
    rewriting: RewritingSettings = RewritingSettings()
    sending: SendingSettings = SendingSettings()
    merging: MergingSettings = MergingSettings()
    advertisement_rewriting: AdvertisementRewritingSettings = AdvertisementRewritingSettings()
    reviews: ReviewSettings = ReviewSettings()

    @property
    def needs_selectivities(self) -> bool:
        """True if a policy chooses by them."""
        return (
            self.rewriting.kind != "none"
            or self.sending.kind != "whole"
            or self.merging.kind in ("pruning", "imperfect")
            or self.advertisement_rewriting.kind != "none"
        )

    @property
    def reviews_entries(self) -> bool:
        """True if a policy merges or rewrites entries from time to time."""
        return self.needs_selectivities or self.merging.kind != "none"

    def __post_init__(self) -> None:
        _check_types(self)
        removal = self.unsubscription
        if removal.kind != "plain" and self.covering.kind == "none":
            raise ConfigurationError(
                f"unsubscription.kind {removal.kind!r} needs covering, and covering.kind is 'none':"
                " no subscription waits for another one to go",
                rule="P4-B3" if removal.kind == "packing" else "P4-B6",
            )
        if self.propagation.kind != "flood":
            return
        for is_chosen, problem, rule in (
            (removal.is_incremental, f"unsubscription.kind {removal.kind!r}", "P4-B5"),
            (self.covering.advertisements != "none", "covering.advertisements", "P2-B9"),
            (
                self.merging.imperfection_of == "advertised",
                "merging.imperfection_of 'advertised'",
                "P2-B11",
            ),
            (
                self.advertisement_rewriting.kind != "none",
                f"advertisement_rewriting.kind {self.advertisement_rewriting.kind!r}",
                "P3-B9",
            ),
        ):
            if is_chosen:
                raise ConfigurationError(
                    f"{problem} needs advertisements that travel: set propagation.kind 'towards',"
                    " not 'flood'",
                    rule=rule,
                )


PRESETS: Final[dict[Preset, Policies]] = {
    "flood": Policies(propagation=PropagationSettings("flood"), covering=CoveringSettings("none")),
    "none": Policies(covering=CoveringSettings("none")),
    "active": Policies(),
    "lazy": Policies(covering=CoveringSettings("lazy")),
    "packing": Policies(unsubscription=UnsubscriptionSettings("packing")),
    "incremental": Policies(unsubscription=UnsubscriptionSettings("incremental")),
    "incremental-packing": Policies(unsubscription=UnsubscriptionSettings("incremental-packing")),
    "pruning": Policies(rewriting=RewritingSettings("pruning", stops_at_cut_off=True)),
    "replacement": Policies(rewriting=RewritingSettings("replacement")),
    "pre-pruning": Policies(sending=SendingSettings("pruned")),
    "merging": Policies(merging=MergingSettings("pruning")),
    "perfect-merging": Policies(merging=MergingSettings("perfect")),
    "imperfect-merging": Policies(merging=MergingSettings("imperfect")),
    "advertisement-pruning": Policies(
        advertisement_rewriting=AdvertisementRewritingSettings("pruning", stops_at_cut_off=True)
    ),
}
"""The policies that have a name."""


class Configuration(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One broker's set-up. All brokers of a network have the same.

    `preset` names the policies. `engine` matches events. A `durable` broker asks for its records to
    be written to disk (`Persist` effects). A neighbour that has not acknowledged a message after
    `acknowledgement_seconds` is suspect. Where the preset rewrites subscriptions of neighbours,
    `memory_target` is the number of their predicates to keep, and `false_positive_budget` the
    expected share of events that may be forwarded for nothing.

    The preset `custom` stands for the policies in `custom`, which no other preset has.

    Raises ConfigurationError.
    """

    preset: Preset = "active"
    engine: EngineName = "access"
    durable: bool = False
    acknowledgement_seconds: float = 30.0
    memory_target: int | None = None
    false_positive_budget: float | None = None
    custom: Policies | None = None

    @property
    def policies(self) -> Policies:
        """The policies in force."""
        return PRESETS[self.preset] if self.custom is None else self.custom

    def __post_init__(self) -> None:
        _check_types(self)
        if (self.preset == "custom") is (self.custom is None):
            raise ConfigurationError(
                f"preset 'custom' and custom go together: preset is {self.preset!r}, and custom is"
                f" {'missing' if self.custom is None else 'set'}"
            )
        # Late acknowledgements are looked for as often.
        if not 0.01 <= self.acknowledgement_seconds < inf:
            raise ConfigurationError(
                f"acknowledgement_seconds is 0.01 or more, not {self.acknowledgement_seconds}",
                rule="P2-B8",
            )
        for name in ("memory_target", "false_positive_budget"):
            if getattr(self, name) is not None and self.policies.rewriting.kind == "none":
                raise ConfigurationError(
                    f"{name} limits nothing: rewriting.kind is 'none'", rule="P1-B7"
                )
        _check_count("memory_target", self.memory_target or 0, least=0, rule="P1-B7")
        _check_share("false_positive_budget", self.false_positive_budget or 0.0, rule="P1-B7")


def configure(settings: Mapping[str, object]) -> Configuration:
    """The configuration with these settings, by path; the policies not named are the preset's.

    A path is a field of `Configuration`, or a group of `Policies` and a field of it, such as
    `unsubscription.threshold`. A group alone stands for its `kind`. Values may be texts, such as
    `"0.5"` and `"true"`.

    With a path into a group the preset becomes `custom`.

    Raises ConfigurationError, also for an unknown path.
    """
    plain: dict[str, Any] = {}
    chosen: dict[str, dict[str, Any]] = {}
    groups = _types_of(Policies)
    for path, value in settings.items():
        group, _, field = path.partition(".")
        known = _types_of(groups.get(group, Configuration))
        name = (field or "kind") if group in groups else path
        if name not in known:
            prefix = f"{group}." if group in groups else ""
            paths = [prefix + each for each in known] + ([] if prefix else list(groups))
            raise ConfigurationError(f"there is no setting {path!r}: take {', '.join(paths)}")
        into = chosen.setdefault(group, {}) if group in groups else plain
        into[name] = _converted(path, value, known[name], strict=False)
    if chosen:
        base = plain.get("preset", "active")
        if base == "custom" or plain.get("custom") is not None:
            raise ConfigurationError(
                f"custom has all policies, so {', '.join(chosen)} cannot be set besides: change"
                " custom, or start from another preset"
            )
        policies = PRESETS[base]
        changed = {
            group: replace(getattr(policies, group), **values) for group, values in chosen.items()
        }
        plain |= {"preset": "custom", "custom": replace(policies, **changed)}
    return Configuration(**plain)


def settings_of(configuration: Configuration) -> dict[str, Any]:
    """Every setting by its path, as `configure` takes them; a `kind` has the name of its group.

    The preset is not among them: the policies it stands for are.
    """
    found = asdict(configuration)
    del found["preset"], found["custom"]
    for group, settings in asdict(configuration.policies).items():
        for field, value in asdict(settings).items():
            found[group if field == "kind" else f"{group}.{field}"] = value
    return found
