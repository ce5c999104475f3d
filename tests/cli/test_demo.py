"""`boolcast demo`."""

import msgspec
import pytest

from boolcast.lab.demo import engines
from boolcast.lab.demo.engines import EVENTS, STEPS, measure_engines
from boolcast.matching.scan import ScanMatcher
from boolcast.workloads import PRESETS, Auction
from tests.cli.running import run


@pytest.fixture(scope="module")
def tour():
    return run("demo", "--subscriptions", "400")


def test_it_is_plain_text_outside_a_terminal(tour):
    # The first to use the kernel in an installation is told that it is being compiled.
    errors = [line for line in tour.errors.splitlines() if "compiling" not in line]
    assert (tour.code, errors) == (0, [])
    assert "\x1b" not in tour.output


def test_it_fits_80_columns_and_two_screens(tour):
    lines = tour.output.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 50


def test_it_fits_60_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    lines = run("demo", "--subscriptions", "400").output.splitlines()
    assert len(lines) > 30
    assert [line for line in lines if len(line) > 60] == []


@pytest.mark.parametrize(
    "line",
    [
        "  hint: write `and`",
        "     └─ ✗ price < 15: price is 21  ← decides",
        "  title like 'Du%' and price < 30 covers the filter above: yes",
        "  title like 'Du%' and price < 20 covers the filter above: no",
        "  title like 'Du%' and price < 20 overlaps the filter above: yes",
        "  simplified: price < 25 and bids <= 3",
    ],
)
def test_what_filters_can_do(tour, line):
    assert line in tour.output.splitlines()


def test_its_witnesses_are_shown(tour):
    lines = tour.output.splitlines()
    assert sum(line.startswith("    it refuses {") for line in lines) == 1
    assert sum(line.startswith("    both accept {") for line in lines) == 1


def test_the_engines_come_first_side_by_side(tour):
    _, title, headings, *rows = tour.output.splitlines()
    assert title == "Three engines, the same 400 filters"
    assert headings.split()[:3] == ["engine", "load", "events"]
    assert [row.split()[0] for row in rows[:3]] == list(EVENTS)
    assert [row.split()[3] for row in rows[:3]] == ["50,000", "500", "5"]
    assert rows[4].startswith("  ✓ same matches: access and counting on 500 events, scan on 5")


def test_the_engines_find_what_the_filters_accept():
    figures = {each.engine: each for each in measure_engines(300, 2, lambda text: None)}
    auction = Auction(msgspec.structs.replace(PRESETS["auction"], titles=300), seed=2)
    filters = list(auction.subscription_filters(0, 300))
    events = auction.events(10_000, 1_000).to_pylist()
    accepted = [sum(filter.accepts(event) for filter in filters) for event in events]
    first = next(number for number, count in enumerate(accepted) if count)
    assert figures["counting"].matches == sum(accepted[first : first + 500])
    assert figures["scan"].matches == sum(accepted[first : first + 5]) > 0


def test_an_engine_that_misses_a_match_is_a_bug(monkeypatch):
    class Forgetful(ScanMatcher):
        def add(self, subscription, filter):
            super().add(subscription, "missing = 1")

    monkeypatch.setattr(engines, "ScanMatcher", Forgetful)
    with pytest.raises(AssertionError, match="scan disagrees"):
        list(measure_engines(300, 2, lambda text: None))


def test_the_figures_as_json():
    (figures,) = run("demo", "--json", "--subscriptions", "300", "--seed", "2").json
    assert (figures["seed"], figures["subscriptions"]) == (2, 300)
    measured = list(measure_engines(300, 2, lambda text: None))
    assert [(each["engine"], each["matches"]) for each in figures["engines"]] == [
        (each.engine, each.matches) for each in measured
    ]
    assert all(each["seconds"] > 0 for each in figures["engines"])


def test_another_seed_is_another_auction():
    one, two = (
        run("demo", "--json", "--subscriptions", "300", "--seed", seed).json[0] for seed in (1, 2)
    )
    assert one["engines"][0]["matches"] != two["engines"][0]["matches"]


def test_the_steps_of_the_engines_are_told():
    told: list[str] = []
    list(measure_engines(50, 1, told.append))
    assert len(told) == STEPS


def test_wrong_usage():
    result = run("demo", "--subscriptions", "0")
    assert result.code == 2
    assert "--subscriptions" in result.errors
