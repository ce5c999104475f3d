"""The alternatives: each finds what the engine finds, or says what is missing."""

import sys

import msgspec
import pytest

from boolcast.lab.benchmarks.choices import AlternativeName
from boolcast.lab.benchmarks.figures import AlternativeFigures, MissingAlternative
from boolcast.lab.benchmarks.match.alternatives.by_lambdas import Lambdas
from boolcast.lab.benchmarks.match.class_one import ALTERNATIVES, ClassOne, constants_of
from boolcast.lab.benchmarks.match.engines import auction, pairs_of

PACKAGES = {
    AlternativeName.DUCKDB: "duckdb",
    AlternativeName.POLARS: "polars",
    AlternativeName.RULE_ENGINE: "rule_engine",
}
WORKLOAD = auction("auction-random", 60, 1, only_class_1=True)
COLUMNS = constants_of(WORKLOAD, 300)


def test_the_columns_are_the_constants_of_the_filters():
    for entry, text in zip(
        COLUMNS.to_pylist(), WORKLOAD.subscriptions(0, 300)["filter"].to_pylist(), strict=True
    ):
        assert text == (
            "title = '{title}' and ending < {ending} and (condition = 'new' and price < {new}"
            " or price < {used} and condition = 'used')".format_map(entry)
        )


@pytest.mark.parametrize("name", AlternativeName)
def test_an_alternative_finds_what_the_filters_say(name):
    if name in PACKAGES:
        pytest.importorskip(PACKAGES[name])
    alternative = ALTERNATIVES[name]()
    alternative.load(COLUMNS)
    filters = list(WORKLOAD.subscription_filters(0, 300))
    for start in (0, 40):
        events = WORKLOAD.events(start, 40)
        expected = {
            (row, f"s{number}")
            for row, event in enumerate(events.to_pylist())
            for number, filter in enumerate(filters)
            if filter.accepts(event)
        }
        assert len(expected) > 10
        assert pairs_of(alternative.match(events)) == expected


@pytest.fixture(scope="module")
def class_one():
    return ClassOne(400, 600, 1, 1)


def test_an_alternative_is_compared_with_the_engine(class_one):
    access = class_one.access
    lambdas = class_one.measure(AlternativeName.LAMBDAS)
    assert (access.subscriptions, access.events, access.access_is_faster) == (400, 600, 1)
    assert lambdas.matches_per_event == access.matches_per_event > 0
    assert lambdas.access_is_faster == pytest.approx(
        lambdas.microseconds_per_event / access.microseconds_per_event
    )


def test_a_slow_alternative_is_measured_in_small(class_one, monkeypatch):
    monkeypatch.setattr(ALTERNATIVES[AlternativeName.NUMPY], "most_subscriptions", 100)
    monkeypatch.setattr(ALTERNATIVES[AlternativeName.NUMPY], "most_events", 50)
    numpy = class_one.measure(AlternativeName.NUMPY)
    assert isinstance(numpy, AlternativeFigures)
    assert (numpy.subscriptions, numpy.scaled_to, numpy.events) == (100, 400, 50)
    assert numpy.access_is_faster == pytest.approx(
        4 * numpy.microseconds_per_event / class_one.access.microseconds_per_event
    )


@pytest.mark.parametrize(("name", "package"), PACKAGES.items())
def test_an_alternative_that_is_not_installed_says_what_to_install(
    class_one, monkeypatch, name, package
):
    monkeypatch.setitem(sys.modules, package, None)
    assert class_one.measure(name) == MissingAlternative(
        alternative=name, problem=f"{package} is not installed: pip install 'boolcast[rivals]'"
    )


def test_an_alternative_that_finds_something_else_is_a_bug(class_one, monkeypatch):
    match = Lambdas.match
    monkeypatch.setattr(Lambdas, "match", lambda self, events: match(self, events.slice(1)))
    with pytest.raises(AssertionError, match="lambdas disagrees"):
        class_one.measure(AlternativeName.LAMBDAS)


def test_the_json_output_keeps_its_field_names(class_one, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    for figures, name in (
        (class_one.access, "access"),
        (class_one.measure(AlternativeName.DUCKDB), "duckdb"),
    ):
        written = msgspec.to_builtins(figures)
        assert written["rival"] == name
        assert "alternative" not in written
