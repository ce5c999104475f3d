"""What does not go together is refused with the rule that forbids it."""

from math import inf, nan
from typing import Any, get_args

import pytest

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
from boolcast.routing.protocol.configuration import Configuration
from boolcast.routing.rewriting.merging import MOMENTS


@pytest.mark.parametrize(
    ("policy", "rule"),
    [
        ({"covering": "none", "unsubscription": "packing"}, "P4-B3"),
        ({"covering": "none", "unsubscription": "incremental"}, "P4-B6"),
        ({"covering": "none", "unsubscription": "incremental-packing"}, "P4-B6"),
        ({"propagation": "flood", "unsubscription": "incremental"}, "P4-B5"),
        ({"propagation": "flood", "advertisement_covering": "active"}, "P2-B9"),
        ({"covering": "none", "covering_by": "diagrams"}, "P2-B5"),
        ({"threshold": 1.5}, "P4-B5"),
        ({"memory_target": 100}, "P1-B7"),
        ({"false_positive_budget": 0.1}, "P1-B7"),
        ({"stops_at_cut_off": True}, "P1-B7"),
        ({"rewriting": "replacement", "stops_at_cut_off": True}, "P1-B11"),
        ({"rewriting": "pruning", "memory_target": -1}, "P1-B7"),
        ({"rewriting": "pruning", "false_positive_budget": 1.5}, "P1-B7"),
        ({"rewriting": "pruning", "change_bound": -0.1}, "P1-B7"),
        ({"rewriting": "pruning", "review_events": 0}, "P1-B7"),
        ({"sending": "pruned", "degradation": 2.0}, "P1-B8"),
        ({"merging": "pruning", "imperfection": -0.5}, "P2-B11"),
        ({"merging": "pruning", "merger_size": 1}, "P1-B9"),
        ({"merging": "pruning", "merger_size": nan}, "P1-B9"),
        ({"rewriting": "pruning", "memory_target": nan}, "P1-B7"),
        ({"rewriting": "pruning", "memory_target": 2.5}, "P1-B7"),
        ({"rewriting": "pruning", "review_events": nan}, "P1-B7"),
        ({"advertisement_rewriting": "pruning", "advertisement_memory_target": nan}, "P3-B8"),
        ({"merging": "imperfect", "imperfection": nan}, "P2-B11"),
        ({"merging": "perfect", "imperfection_of": "advertised"}, "P2-B11"),
        (
            {"merging": "imperfect", "imperfection_of": "advertised", "propagation": "flood"},
            "P2-B11",
        ),
        ({"merging": "perfect", "dropped_predicates": 1}, "P2-B10"),
        ({"merging": "imperfect", "dropped_predicates": 3}, "P2-B10"),
        ({"merging_moment": "entries", "merging_starts_at": 9.0}, "P2-B10"),
        ({"merging": "perfect", "merging_moment": "entries"}, "P2-B10"),
        ({"merging": "perfect", "merging_starts_at": 9.0}, "P2-B10"),
        ({"merging": "perfect", "merging_starts_at": nan}, "P2-B10"),
        ({"threshold": nan}, "P4-B5"),
        ({"window_seconds": -1.0}, "P4-B5"),
        ({"window_seconds": nan}, "P4-B5"),
        ({"acknowledgement_seconds": 0.0}, "P2-B8"),
        ({"acknowledgement_seconds": -1.0}, "P2-B8"),
        ({"acknowledgement_seconds": nan}, "P2-B8"),
        ({"acknowledgement_seconds": inf}, "P2-B8"),
    ],
)
def test_an_excluded_combination_names_its_rule(policy: dict[str, Any], rule: str):
    with pytest.raises(ConfigurationError) as caught:
        Configuration(**policy)
    assert caught.value.rule == rule
    assert f"(rule {rule})" in str(caught.value)


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
