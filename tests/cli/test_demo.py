"""`boolcast demo`."""

import pytest

from boolcast.cli.tour import _AUCTION
from boolcast.filters.parsing import parse
from boolcast.workloads import Auction
from tests.cli.running import run


@pytest.fixture(scope="module")
def tour():
    return run("demo", "--events", "100", "--subscriptions", "30")


def test_it_is_plain_text_outside_a_terminal(tour):
    assert (tour.code, tour.errors) == (0, "")
    assert "\x1b" not in tour.output


@pytest.mark.parametrize(
    "line",
    [
        "  hint: write `and`",
        "        └─ ✗ price < 15: price is 21.0  ← decides",
        "  price < 25 and ending <= 24 covers it: yes",
        "  title like 'Du%' and price < 20 covers it: no",
        "  simplified: price < 25 and bids <= 3",
        "A book auction: 100 events, 30 subscriptions",
    ],
)
def test_its_stops(tour, line):
    assert line in tour.output.splitlines()


def test_its_mistakes_are_mistakes_with_carets(tour):
    assert tour.output.count("^\n") == 3


def test_its_witnesses_are_shown(tour):
    lines = tour.output.splitlines()
    assert sum(line.startswith("    only the filter above accepts {") for line in lines) == 1
    assert sum(line.startswith("    both accept {") for line in lines) == 1


def test_its_figures_are_those_of_the_auction(tour):
    result = run("demo", "--json", "--events", "100", "--subscriptions", "30", "--seed", "1")
    (figures,) = result.json
    auction = Auction(_AUCTION, seed=1)
    filters = [parse(row["filter"]) for row in auction.subscriptions(0, 30).to_pylist()]
    accepted = [
        sum(filter.accepts(event) for filter in filters)
        for event in auction.events(0, 100).to_pylist()
    ]
    assert figures["matches"] == sum(accepted) > 0
    assert figures["events_matched"] == sum(map(bool, accepted))
    assert figures["predicates"] == sum(len(list(filter.predicates())) for filter in filters)
    assert figures["match_seconds"] > 0
    assert (
        f"  {sum(accepted):,} matches for {sum(map(bool, accepted)):,} of the events" in tour.output
    )


def test_another_seed_is_another_auction():
    one, two = (
        run("demo", "--json", "--events", "50", "--subscriptions", "30", "--seed", seed).json[0]
        for seed in (1, 2)
    )
    assert one["matches"] != two["matches"]


def test_wrong_usage():
    result = run("demo", "--events", "0")
    assert result.code == 2
    assert "--events" in result.errors
