"""Shares of predicates: counted, estimated from values or neighbours, guessed; and reported."""

from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.errors import StatisticsError
from boolcast.filters.expressions import Comparison
from boolcast.filters.parsing import parse
from boolcast.matching.counting.engine import CountingMatcher
from boolcast.model.events import Event
from boolcast.model.statistics import AttributeStatistics, Statistics, ValueBin
from boolcast.model.values import Kind
from boolcast.optimising.pruning.trees import best_pruning
from boolcast.optimising.statistics.selectivities import UNKNOWN_SHARE, Selectivities
from boolcast.workloads import Auction
from tests.optimising.pruning_histories import EVENTS, known, read, tree
from tests.pipeline.statistics_oracle import statistics_of
from tests.strategies import predicates


def test_a_counted_predicate_has_its_share():
    """P1-T2: 15,000 matches of 100,000 events."""
    counted = Statistics(events=100_000, predicates={"price < 25": 15_000})
    assert Selectivities(counted).share(read("price < 25.0")) == 0.15


def test_not_more_than_so_many_predicates_are_remembered(monkeypatch):
    """A broker's predicates come and go, but its statistics stay as long as it runs."""
    monkeypatch.setattr("boolcast.optimising.statistics.selectivities.REMEMBERED", 10)
    history = Statistics(events=100, predicates={f"x < {each}": each for each in range(40)})
    learnt = Selectivities(history)
    leaves = [Comparison("x", "<", each) for each in range(1, 40)]
    for _ in range(2):
        assert [learnt.share(leaf) for leaf in leaves] == [each / 100 for each in range(1, 40)]
        assert len(learnt._known) <= 10


def test_what_no_event_satisfied_counts_as_half_an_event():
    """Otherwise everything beside a rare title would cost the same: nothing."""
    rare = known({"title = 'Emma'": 0.0, "price < 99": 0.9, "ending < 24": 0.1})
    assert rare.share(read("title = 'Emma'")) == 0.5 / EVENTS
    best = best_pruning(tree("title = 'Emma' and ending < 24 and price < 99", rare))
    assert best is not None
    assert best.path == (2,)


def test_the_counting_engine_teaches_online():
    auction = Auction(seed=1)
    matcher = CountingMatcher()
    matcher.add("s", "condition = 'new' and price < 500")
    events = auction.events(0, 2_000)
    list(matcher.match_batch(events))
    learnt = Selectivities(matcher.statistics())
    rows = events.to_pylist()
    for text in ("condition = 'new'", "price < 500"):
        share = sum(parse(text).accepts(row) for row in rows) / len(rows)
        assert learnt.share(read(text)) == pytest.approx(share)
        assert learnt.source(read(text)) == "counted"


@pytest.mark.parametrize(
    ("text", "share"),
    [
        # Between two neighbours by distance; beyond the last one, its share.
        ("price < 15", 0.3),
        ("price < 12.5", 0.25),
        ("price < 5", 0.2),
        ("price < 99", 0.4),
        ("title = 'Emma'", 0.002),
        ("title < 'm'", 0.5),
        ("price <= 15", None),
        ("price < 'm'", None),
        ("author = 'Emma'", None),
        ("bid > reserve", None),
    ],
)
def test_neighbours_of_the_same_form_stand_in(text, share):
    selectivities = known(
        {
            "price < 10": 0.2,
            "price < 20": 0.4,
            "title = 'Ulysses'": 0.001,
            "title = 'Harry Potter'": 0.003,
            "title < 'a'": 0.2,
            "title < 'z'": 0.8,
        }
    )
    expected = UNKNOWN_SHARE if share is None else share
    assert selectivities.share(read(text)) == pytest.approx(expected)
    assert selectivities.source(read(text)) == ("guess" if share is None else "neighbours")


SPREAD = Statistics(
    events=200,
    attributes={
        "price": AttributeStatistics(
            events=160,
            kinds={Kind.NUMBER: 160},
            bins={
                Kind.NUMBER: (
                    ValueBin(0, 10, 80, 8),
                    ValueBin(20, 20, 40, 1),
                    ValueBin(30, 40, 40, 4),
                )
            },
        ),
        "title": AttributeStatistics(
            events=100,
            kinds={Kind.STRING: 100},
            bins={Kind.STRING: (ValueBin("a", "c", 60, 6), ValueBin("d", "d", 40, 1))},
        ),
    },
)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("price < 15", 0.4),
        ("price <= 20", 0.6),
        ("price < 5", 0.2),
        ("price = 20", 0.2),
        ("price != 20", 0.6),
        ("price = 5", 0.05),
        ("price between 20 and 40", 0.4),
        ("price not between 20 and 40", 0.4),
        ("price in (20, 5)", 0.25),
        ("price > 1e308", 0.5 / 200),
        ("price is null", 0.2),
        ("price is not null", 0.8),
        ("title = 'd'", 0.2),
        ("title = 'b'", 0.05),
        ("title > 'b'", 0.35),
        ("title = 5", 0.5 / 200),
    ],
)
def test_the_spread_of_values_stands_in(text, share):
    selectivities = Selectivities(SPREAD)
    assert selectivities.share(read(text)) == pytest.approx(share)
    assert selectivities.source(read(text)) == "values"


@pytest.mark.parametrize("text", ["contains(title, 'b')", "matches(title, 'b')", "bid > price"])
def test_values_say_nothing_of_patterns_and_residuals(text):
    assert Selectivities(SPREAD).source(read(text)) == "guess"


def test_a_spread_over_all_numbers_has_finite_shares():
    widest = 1.7976931348623157e308
    spread = Statistics(
        events=10,
        attributes={
            "a": AttributeStatistics(
                events=10, bins={Kind.NUMBER: (ValueBin(-widest, widest, 10, 5),)}
            )
        },
    )
    assert Selectivities(spread).share(read("a < 0")) == pytest.approx(0.5)


def test_a_share_between_numbers_whose_distance_is_no_number():
    counted = {"x < -1.7e308": 10, "x < 1.7e308": 90}
    history = Selectivities(Statistics(events=100, predicates=counted))
    assert history.share(read("x < 0")) == pytest.approx(0.5)


@given(predicates(), st.sampled_from((SPREAD, Statistics(events=0), Statistics(events=5))))
def test_every_predicate_has_a_share(predicate, history):
    assert 0 <= Selectivities(history).share(predicate) <= 1


def test_knowledge_tells_how_each_predicate_came_to_its_share():
    selectivities = known({"price < 10": 0.2, "price < 20": 0.4})
    knowledge = selectivities.knowledge(
        [parse("price < 10 and price < 15"), parse("not (price >= 10 or author = 'Austen')")]
    )
    assert (knowledge.counted, knowledge.neighbours, knowledge.guess) == (1, 1, 1)
    assert knowledge.examples == ("author != 'Austen'",)
    assert not knowledge.is_foreign
    assert "1 (33%) guessed, for example author != 'Austen'" in str(knowledge)


def test_statistics_of_other_data_are_told():
    knowledge = known({"temperature > 30": 0.1}).knowledge([parse("price < 10 and title = 'Emma'")])
    assert knowledge.is_foreign
    assert "the statistics know none of the 2 predicates" in str(knowledge)
    assert not known({"price < 10": 0.1}).knowledge([parse("price < 10")]).is_foreign


@pytest.mark.parametrize(
    ("contradicting", "what"),
    [
        (Statistics(events=10, predicates={"price < 10": 11}), "the predicate price < 10"),
        (Statistics(events=10, predicates={"price < 10": -1}), "the predicate price < 10"),
        (
            Statistics(events=10, attributes={"price": AttributeStatistics(events=11)}),
            "the attribute price",
        ),
        (Statistics(events=-1), "cannot be of -1 events"),
        (Statistics(events=nan), "cannot be of nan events"),  # type: ignore[arg-type]
        (
            Statistics(
                events=10,
                attributes={
                    "price": AttributeStatistics(
                        events=5, bins={Kind.NUMBER: (ValueBin(1, 9, 6, 2),)}
                    )
                },
            ),
            "the bins of the attribute price",
        ),
    ],
)
def test_statistics_that_contradict_themselves_are_refused(contradicting, what):
    with pytest.raises(StatisticsError, match=what):
        Selectivities(contradicting)


@pytest.mark.parametrize("text", ["price <", "a = 1 and b = 2", "not a = 1"])
def test_statistics_of_what_is_no_predicate_are_refused(text):
    with pytest.raises(StatisticsError, match="statistics of predicates hold"):
        known({text: 0.5}).share(read("price < 10"))


@pytest.mark.parametrize(
    "text",
    [
        "price < 300",
        "price between 200 and 900",
        "price >= 2500",
        "ending < 24",
        "ending in (1, 2, 3, 4)",
        "condition = 'new'",
        "condition != 'new'",
        "special is not null",
        "category = 'category 3'",
    ],
)
def test_the_statistics_of_spark_tell_of_predicates_that_were_not_counted(text):
    """The oracle counts from the same events what Spark counts in the pipeline's tests."""
    events = [Event(row) for row in Auction(seed=2).events(0, 1_000).to_pylist()]
    learnt = Selectivities(statistics_of(events, [parse("price < 500")], 32))
    assert learnt.source(read("price < 500")) == "counted"
    assert learnt.source(read(text)) == "values"
    share = sum(map(parse(text).accepts, events)) / len(events)
    assert learnt.share(read(text)) == pytest.approx(share, abs=0.02)
