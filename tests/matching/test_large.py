"""A million random subscriptions, compared with the reference evaluator as far as it gets."""

import random
from collections import defaultdict
from typing import Final, NamedTuple

import pyarrow as pa
import pytest
from msgspec.structs import replace

from boolcast.filters.expressions import Filter
from boolcast.filters.parsing import parse
from boolcast.matching.matcher import Matcher
from boolcast.model.arrow import events_from_arrow
from boolcast.model.events import Event
from boolcast.workloads import PRESETS, Auction, Diverse, Workload

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]

SEED: Final = 11
EVENTS: Final = 500
"""Of each workload."""
SAMPLED: Final = 1_000
"""Subscriptions of each workload that every event is tried on."""
RECHECKED: Final = 20
"""Every so manieth event has each of its matches tried."""


class Part(NamedTuple):
    """Subscriptions of one workload, their texts by id, and events of it."""

    texts: dict[str, str]
    events: pa.Table


class Large(NamedTuple):
    """Everything is loaded, and some filters are known to the reference evaluator too."""

    matcher: Matcher
    parts: list[Part]
    sample: dict[str, Filter]


def part_of(name: str, workload: Workload, count: int) -> Part:
    rows = workload.subscriptions(0, count)
    names = [f"{name}-{each}" for each in rows["subscription"].to_pylist()]
    texts = dict(zip(names, rows["filter"].to_pylist(), strict=True))
    return Part(texts, workload.events(0, EVENTS))


@pytest.fixture(scope="module")
def large() -> Large:
    titles = replace(PRESETS["auction-random"], titles=900_000)
    parts = [
        part_of("auction", Auction(titles, seed=SEED), 900_000),
        part_of("diverse", Diverse(seed=SEED), 100_000),
    ]
    matcher = Matcher()
    for texts, _ in parts:
        table = pa.table({"subscription": list(texts), "filter": list(texts.values())})
        assert matcher.add_many(table).num_rows == 0
    assert len(matcher) == 1_000_000
    chance = random.Random(SEED)
    sample = {
        name: parse(texts[name])
        for texts, _ in parts
        for name in chance.sample(list(texts), SAMPLED)
    }
    return Large(matcher, parts, sample)


def found_by(matcher: Matcher, events: pa.Table) -> list[set[str]]:
    """For each event its matches, none of them twice."""
    found = defaultdict(list)
    for batch in matcher.match_batch(events):
        columns = batch.to_pydict()
        for row, name in zip(columns["event"], columns["subscription"], strict=True):
            found[row].append(name)
    matches = [set(found[row]) for row in range(events.num_rows)]
    assert sum(map(len, matches)) == sum(map(len, found.values()))
    return matches


def scanned(sample: dict[str, Filter], event: Event) -> set[str]:
    return {name for name, filter in sample.items() if filter.accepts(event)}


def test_a_million_subscriptions_match_as_scanning_says(large):
    matcher, parts, sample = large
    for texts, table in parts:
        events = list(events_from_arrow(table))
        matches = found_by(matcher, table)
        accepted = 0
        for event, found in zip(events, matches, strict=True):
            accepting = scanned(sample, event)
            assert found & sample.keys() == accepting
            accepted += len(accepting)
        assert accepted > 20
        for row in range(0, EVENTS, RECHECKED):
            assert matches[row]
            assert set(matcher.match(events[row])) == matches[row]
            assert all(parse(texts[name]).accepts(events[row]) for name in matches[row])


def test_a_million_subscriptions_less_some_match_as_scanning_says(large):
    """Removed are half of the sample; the rest is merged anew."""
    matcher, parts, sample = large
    removed = set(random.Random(SEED).sample(sorted(sample), SAMPLED))
    before = [found_by(matcher, table) for _, table in parts]
    for name in removed:
        matcher.remove(name)
    for merge in (lambda: None, matcher.merge):
        merge()
        for (_, table), earlier in zip(parts, before, strict=True):
            assert found_by(matcher, table) == [found - removed for found in earlier]
