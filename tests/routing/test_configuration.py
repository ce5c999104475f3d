"""What does not go together is refused with the rule that forbids it."""

from collections.abc import Callable
from math import inf, nan
from typing import Any, get_args

import pytest
from msgspec.structs import fields

from boolcast.errors import ConfigurationError
from boolcast.routing.policies.registry import (
    COVERING,
    COVERING_TESTS,
    ENGINES,
    MERGING,
    OVERLAPS,
    PROPAGATION,
    REWRITING,
    SENDING,
    UNSUBSCRIPTION,
)
from boolcast.routing.protocol import configuration
from boolcast.routing.protocol.configuration import (
    PRESETS,
    Configuration,
    Policies,
    Preset,
    UnsubscriptionSettings,
    configure,
    settings_of,
)
from boolcast.routing.rewriting.merging import MOMENTS


@pytest.mark.parametrize(
    ("policy", "rule"),
    [
        ({"covering": "none", "unsubscription": "packing"}, "P4-B3"),
        ({"covering": "none", "unsubscription": "incremental"}, "P4-B6"),
        ({"covering": "none", "unsubscription": "incremental-packing"}, "P4-B6"),
        ({"propagation": "flood", "unsubscription": "incremental"}, "P4-B5"),
        ({"propagation": "flood", "covering.advertisements": "active"}, "P2-B9"),
        ({"covering": "none", "covering.test": "diagrams"}, "P2-B5"),
        ({"unsubscription.threshold": 1.5}, "P4-B5"),
        ({"memory_target": 100}, "P1-B7"),
        ({"false_positive_budget": 0.1}, "P1-B7"),
        ({"rewriting.stops_at_cut_off": True}, "P1-B7"),
        ({"rewriting": "replacement", "rewriting.stops_at_cut_off": True}, "P1-B11"),
        ({"rewriting": "pruning", "memory_target": -1}, "P1-B7"),
        ({"rewriting": "pruning", "false_positive_budget": 1.5}, "P1-B7"),
        ({"rewriting": "pruning", "reviews.change_bound": -0.1}, "P1-B7"),
        ({"rewriting": "pruning", "reviews.events": 0}, "P1-B7"),
        ({"sending": "pruned", "sending.degradation": 2.0}, "P1-B8"),
        ({"merging": "pruning", "merging.imperfection": -0.5}, "P2-B11"),
        ({"merging": "pruning", "merging.size": 1}, "P1-B9"),
        ({"merging": "imperfect", "merging.imperfection": nan}, "P2-B11"),
        ({"merging": "perfect", "merging.imperfection_of": "advertised"}, "P2-B11"),
        (
            {
                "merging": "imperfect",
                "merging.imperfection_of": "advertised",
                "propagation": "flood",
            },
            "P2-B11",
        ),
        ({"merging": "perfect", "merging.dropped_predicates": 1}, "P2-B10"),
        ({"merging": "imperfect", "merging.dropped_predicates": 3}, "P2-B10"),
        ({"merging.moment": "entries", "merging.starts_at": 9.0}, "P2-B10"),
        ({"merging": "perfect", "merging.moment": "entries"}, "P2-B10"),
        ({"merging": "perfect", "merging.starts_at": 9.0}, "P2-B10"),
        ({"merging": "perfect", "merging.starts_at": nan}, "P2-B10"),
        ({"unsubscription.threshold": nan}, "P4-B5"),
        ({"unsubscription.window_seconds": -1.0}, "P4-B5"),
        ({"unsubscription.window_seconds": nan}, "P4-B5"),
        ({"acknowledgement_seconds": 0.0}, "P2-B8"),
        ({"acknowledgement_seconds": -1.0}, "P2-B8"),
        ({"acknowledgement_seconds": nan}, "P2-B8"),
        ({"acknowledgement_seconds": inf}, "P2-B8"),
    ],
)
def test_an_excluded_combination_names_its_rule_and_a_path(policy: dict[str, Any], rule: str):
    with pytest.raises(ConfigurationError) as caught:
        constructed(policy)
    assert caught.value.rule == rule
    assert f"(rule {rule})" in str(caught.value)
    paths = [path if "." in path or path in PLAIN else f"{path}.kind" for path in policy]
    assert any(path in str(caught.value) for path in paths)


PLAIN = Configuration.__struct_fields__
GROUPS: dict[str, Any] = {each.name: each.type for each in fields(Policies)}


def constructed(policy: dict[str, Any]) -> Configuration:
    """By the constructors; `configure` would also read texts."""
    chosen: dict[str, dict[str, Any]] = {}
    plain = {path: value for path, value in policy.items() if path in PLAIN}
    for path in policy.keys() - plain.keys():
        group, _, field = path.partition(".")
        chosen.setdefault(group, {})[field or "kind"] = policy[path]
    groups = {name: GROUPS[name](**values) for name, values in chosen.items()}
    return Configuration(preset="custom", custom=Policies(**groups), **plain)


def test_an_operator_sees_a_preset_and_few_fields():
    assert len(PLAIN) == 7
    assert Configuration().policies == Policies()
    assert Configuration(preset="lazy").policies.covering.kind == "lazy"


@pytest.mark.parametrize(
    ("policy", "path", "problem"),
    [
        ({"engine": "fast"}, "engine", "'access', 'scan', 'counting' or 'mbd', not 'fast'"),
        ({"durable": "perhaps"}, "durable", "true or false, not 'perhaps'"),
        ({"acknowledgement_seconds": "a"}, "acknowledgement_seconds", "a number, not 'a'"),
        ({"memory_target": "many"}, "memory_target", "a whole number, not 'many'"),
        ({"memory_target": nan}, "memory_target", "a whole number, not nan"),
        ({"memory_target": 2.5}, "memory_target", "a whole number, not 2.5"),
        ({"propagation": "far"}, "propagation.kind", "'flood' or 'towards', not 'far'"),
        ({"covering": "eager"}, "covering.kind", "'none', 'active' or 'lazy', not 'eager'"),
        ({"covering": ["none"]}, "covering.kind", "'none', 'active' or 'lazy', not ['none']"),
        ({"covering.attribute_order": 3}, "covering.attribute_order", "a list of texts, not 3"),
        ({"unsubscription.slack": 7}, "unsubscription.slack", "0 or 1, not 7"),
        ({"rewriting": "x"}, "rewriting.kind", "'none', 'pruning' or 'replacement', not 'x'"),
        ({"sending.degradation": "a"}, "sending.degradation", "a number, not 'a'"),
        ({"merging.size": nan}, "merging.size", "a whole number, not nan"),
        ({"merging.schema": 7}, "merging.schema", "of type Schema, not 7"),
        ({"reviews.events": nan}, "reviews.events", "a whole number, not nan"),
        (
            {"advertisement_rewriting.memory_target": nan},
            "advertisement_rewriting.memory_target",
            "a whole number, not nan",
        ),
    ],
)
@pytest.mark.parametrize("make", [constructed, configure])
def test_a_value_that_cannot_be_is_refused_with_what_can(
    policy: dict[str, Any], path: str, problem: str, make: Callable[..., Configuration]
):
    """The path is the caller's: a group alone, where `configure` got that."""
    with pytest.raises(ConfigurationError) as caught:
        make(policy)
    shown = next(iter(policy)) if make is configure else path
    assert str(caught.value) == f"{shown} is {problem}"
    assert not caught.value.rule


def test_policies_are_a_presets_or_custom():
    lazy = PRESETS["lazy"]
    assert Configuration(preset="custom", custom=lazy).policies == lazy
    for preset, custom in (("flood", lazy), ("active", lazy), ("custom", None)):
        with pytest.raises(ConfigurationError, match=f"go together: preset is '{preset}'"):
            Configuration(preset=preset, custom=custom)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match=r"^preset is 'flood', .* or 'custom', not 'lasy'"):
        Configuration(preset="lasy")  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match=r"^custom is of type Policies, not 'lazy'"):
        Configuration(preset="custom", custom="lazy")  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match=r"^covering is of type CoveringSettings"):
        Policies(covering="lazy")  # type: ignore[arg-type]


def test_paths_into_a_preset_make_it_custom():
    configuration = configure({"preset": "flood", "propagation": "towards"})
    assert configuration == Configuration(preset="custom", custom=PRESETS["none"])
    for preset in ({}, {"preset": "custom"}):
        with pytest.raises(ConfigurationError, match="custom has all policies, so unsubscription"):
            configure({**preset, "custom": PRESETS["lazy"], "unsubscription": "packing"})
    with pytest.raises(ConfigurationError, match="custom has all policies, so covering"):
        configure({"preset": "custom", "covering": "lazy"})


def test_paths_change_the_preset():
    configuration = configure({"preset": "incremental", "unsubscription.threshold": "0.5"})
    assert configuration.policies.unsubscription == UnsubscriptionSettings("incremental", 0.5)
    assert configure({"preset": "lazy", "durable": "true"}) == Configuration(
        preset="lazy", durable=True
    )
    with pytest.raises(ConfigurationError, match=r"covering\.kind is 'none'.*rule P4-B3"):
        configure({"preset": "packing", "covering": "none"})


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"covering": "eager"}, "^covering is 'none'"),
        ({"covering.kind": "eager"}, r"^covering\.kind is 'none'"),
        ({"preset": "eager", "covering": "none"}, "^preset is 'flood'"),
        (
            {"covering.eager": "true"},
            r"no setting 'covering\.eager': take covering\.kind, ",
        ),
        ({"reviews": "3"}, r"no setting 'reviews': take reviews\.events, "),
        ({"eager": "true"}, "no setting 'eager': take preset, engine, .*, propagation, covering"),
    ],
)
def test_an_unknown_path_or_value_is_refused(settings: dict[str, object], problem: str):
    with pytest.raises(ConfigurationError, match=problem):
        configure(settings)


@pytest.mark.parametrize("preset", PRESETS)
def test_settings_make_the_same_policies_again(preset: Preset):
    configuration = Configuration(preset=preset, acknowledgement_seconds=7.0)
    again = configure(settings_of(configuration))
    assert again.policies == configuration.policies
    assert again.acknowledgement_seconds == 7.0


def test_every_preset_has_its_policies():
    assert {*PRESETS, "custom"} == set(get_args(Preset))


@pytest.mark.parametrize(
    ("names", "table"),
    [
        (configuration.Propagation, PROPAGATION),
        (configuration.Covering, COVERING),
        (configuration.CoveringTest, COVERING_TESTS),
        (configuration.OverlapTest, OVERLAPS),
        (configuration.Unsubscription, UNSUBSCRIPTION),
        (configuration.Rewriting, REWRITING),
        (configuration.Sending, SENDING),
        (configuration.Merging, MERGING),
        (configuration.MergingMoment, MOMENTS),
        (configuration.EngineName, ENGINES),
    ],
)
def test_every_name_stands_for_something(names: Any, table: dict[str, object]):
    assert set(get_args(names)) == set(table)
