"""`boolcast demo`."""

import msgspec
import pytest

from boolcast.filters.parsing import parse
from boolcast.lab.demo.engines import STEPS, run_engines
from boolcast.lab.demo.tour import _AUCTION
from boolcast.workloads import PRESETS, Auction
from tests.cli.running import run


@pytest.fixture(scope="module")
def tour():
    return run("demo", "--events", "100", "--subscriptions", "30", "--engines", "400")


def test_it_is_plain_text_outside_a_terminal(tour):
    # The first to use the kernel in an installation is told that it is being compiled.
    errors = [line for line in tour.errors.splitlines() if "compiling" not in line]
    assert (tour.code, errors) == (0, [])
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
    small = ("--events", "100", "--subscriptions", "30", "--engines", "0", "--seed", "1")
    (figures,) = run("demo", "--json", *small).json
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
    small = ("--events", "50", "--subscriptions", "30", "--engines", "0")
    one, two = (run("demo", "--json", *small, "--seed", seed).json[0] for seed in (1, 2))
    assert one["matches"] != two["matches"]


def test_wrong_usage():
    result = run("demo", "--events", "0")
    assert result.code == 2
    assert "--events" in result.errors


def test_the_engines_stand_side_by_side(tour):
    assert "The engines side by side: 400 subscriptions" in tour.output
    rows = [line.split("│")[1:-1] for line in tour.output.splitlines() if "│" in line]
    engines = {row[0].strip(): row for row in rows if len(row) == 6}
    assert list(engines) == ["access", "counting", "scan"]


def test_the_engines_find_the_same():
    figures = {each.engine: each for each in run_engines(300, 2, lambda text: None)}
    auction = Auction(msgspec.structs.replace(PRESETS["auction"], titles=300), seed=2)
    filters = list(auction.subscription_filters(0, 300))
    events = auction.events(0, 200).to_pylist()
    accepted = [sum(filter.accepts(event) for filter in filters) for event in events]
    assert figures["counting"].matches == sum(accepted) > 0
    assert figures["scan"].matches == sum(accepted[:2])


def test_the_engines_are_in_the_json():
    small = ("--events", "5", "--subscriptions", "5", "--engines", "300", "--seed", "2")
    (figures,) = run("demo", "--json", *small).json
    engines = {each["engine"]: each for each in figures["engines"]}
    measured = run_engines(300, 2, lambda text: None)
    assert {name: each["matches"] for name, each in engines.items()} == {
        each.engine: each.matches for each in measured
    }
    assert all(each["seconds"] > 0 for each in engines.values())


def test_the_steps_of_the_engines_are_told():
    told: list[str] = []
    run_engines(50, 1, told.append)
    assert len(told) == STEPS


def test_the_engines_can_be_left_out():
    tour = run("demo", "--events", "5", "--subscriptions", "5", "--engines", "0")
    assert "side by side" not in tour.output
