"""Additions that wait, and the ids that are known."""

import pytest

from boolcast.errors import UnknownSubscriptionError
from boolcast.matching.id_table import IdTable
from boolcast.matching.matcher import Matcher


def test_a_state_keeps_its_additions_while_others_join_its_list():
    matcher = Matcher()
    matcher.add("a", "x = 1")
    before = matcher._state
    matcher.add("b", "x = 1")
    assert [entry.subscription for entry in before.additions()] == ["a"]
    after = matcher._state
    matcher.remove("a")
    assert [entry.subscription for entry in after.additions()] == ["a", "b"]
    assert matcher.match({"x": 1}) == ["b"]


def test_what_is_removed_is_no_longer_known():
    matcher = Matcher()
    matcher.add("a", "x = 1")
    matcher.remove("a")
    assert "a" not in matcher
    with pytest.raises(UnknownSubscriptionError):
        matcher.remove("a")


def test_ids_of_every_part_are_found():
    known = IdTable()
    known.update((f"s{number}", number) for number in range(2_000))
    known["s7"] = 9_000
    assert all(f"s{number}" in known for number in range(2_000))
    assert "s2000" not in known
    assert known.pop("s7") == 9_000
    assert known.pop("s7") is None
    assert "s7" not in known
