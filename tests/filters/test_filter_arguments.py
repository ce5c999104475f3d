"""What a caller may give for a filter, and what everything else is answered with."""

import copy
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given

import boolcast
from boolcast import covers, disjoint, equivalent, explain, lint, overlaps, parse, simplify
from boolcast.algebra.normal_forms import to_cnf, to_dnf
from boolcast.algebra.normalisation import normalise_conjunction
from boolcast.algebra.relations import relate
from boolcast.errors import ArgumentError, FilterSyntaxError, FilterTruthError, UsageError
from boolcast.filters.expressions import And, Not, Or, as_filter
from boolcast.filters.limits import Limits
from boolcast.model.schemas import Attribute, Schema
from tests.strategies import filters

TEXT = "price < 25 and price < 30"
FILTER = parse(TEXT)
SIMPLER = simplify(FILTER)
WAYS = [TEXT, FILTER, SIMPLER]

OF_ONE: dict[str, Callable[..., Any]] = {
    "simplify": simplify,
    "lint": lint,
    "explain": lambda filter: explain(filter, {"price": 21}),
    "to_dnf": to_dnf,
    "to_cnf": to_cnf,
    "normalise_conjunction": normalise_conjunction,
}
OF_TWO: dict[str, Callable[..., Any]] = {
    "covers": covers,
    "overlaps": overlaps,
    "disjoint": disjoint,
    "equivalent": equivalent,
    "relate": relate,
}


def test_a_filter_is_its_text_itself_or_a_result():
    assert as_filter(TEXT) == FILTER
    assert as_filter(FILTER) is FILTER
    assert as_filter(SIMPLER) is SIMPLER.filter == parse("price < 25")
    assert as_filter(to_dnf(FILTER)) == FILTER


@pytest.mark.parametrize("name", OF_ONE)
def test_one_filter_may_be_given_in_any_way(name):
    function = OF_ONE[name]
    assert function(TEXT) == function(FILTER)
    assert function(SIMPLER) == function(SIMPLER.filter)


@pytest.mark.parametrize("name", OF_TWO)
def test_two_filters_may_be_given_in_any_way(name):
    function = OF_TWO[name]
    other = "price < 20 or title = 'Emma'"
    for way in WAYS:
        assert function(way, other) == function(as_filter(way), parse(other))
        assert function(other, way) == function(parse(other), as_filter(way))


WRONG = [None, 5, True, b"price < 25", ["price < 25"], {"price": 25}, Schema(), Limits]


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_anything_else_is_refused_with_what_was_expected(wrong):
    calls: list[Callable[[], object]] = [partial(each, wrong) for each in OF_ONE.values()]
    calls += [partial(each, TEXT, wrong) for each in OF_TWO.values()]
    calls += [partial(each, wrong, FILTER) for each in OF_TWO.values()]
    calls += [lambda: FILTER & wrong, lambda: wrong | FILTER, lambda: as_filter(wrong)]
    for call in calls:
        with pytest.raises(ArgumentError) as caught:
            call()
        error = caught.value
        assert isinstance(error, UsageError)
        assert isinstance(error, TypeError)
        assert error.given == type(wrong).__name__
        assert str(error) == (
            "a filter is a text such as 'price < 25', a Filter, or the result of `simplify`;"
            f" given: {error.given}"
        )
        again = pickle.loads(pickle.dumps(error))
        assert (str(again), again.given) == (str(error), error.given)


@pytest.mark.parametrize("wrong", [None, 5, b"price < 25", FILTER], ids=str)
def test_only_strings_are_parsed(wrong):
    with pytest.raises(ArgumentError, match="a string such as 'price < 25'; given: "):
        parse(wrong)


@pytest.mark.parametrize("name", [*OF_ONE, *OF_TWO])
def test_a_text_that_is_no_filter_is_a_syntax_error(name):
    with pytest.raises(FilterSyntaxError) as caught:
        OF_ONE[name]("price <") if name in OF_ONE else OF_TWO[name](TEXT, "price <")
    assert caught.value.position == 7


def test_limits_and_schema_hold_for_texts():
    with pytest.raises(boolcast.errors.FilterLimitError):
        as_filter(TEXT, limits=Limits(predicates=1))
    with pytest.raises(boolcast.errors.FilterSchemaError):
        as_filter(TEXT, schema=Schema({"title": Attribute("string")}))


def test_filters_combine_with_texts_and_results():
    title = parse("title = 'Emma'")
    assert FILTER & "title = 'Emma'" == And((FILTER, title)) == TEXT & title
    assert FILTER | "title = 'Emma'" == Or((FILTER, title)) == TEXT | title
    assert title & SIMPLER == And((title, SIMPLER.filter))
    assert SIMPLER | title == Or((SIMPLER.filter, title))


@pytest.mark.parametrize("way", [FILTER, parse("true"), SIMPLER], ids=str)
@pytest.mark.parametrize(
    "use",
    [
        bool,
        lambda way: way and FILTER,
        lambda way: way or FILTER,
        lambda way: not way,
        lambda way: 1 if way else 0,
        lambda way: any([way]),
    ],
    ids=["bool", "and", "or", "not", "if", "any"],
)
def test_a_filter_is_no_truth_value(way, use):
    with pytest.raises(FilterTruthError) as caught:
        use(way)
    assert isinstance(caught.value, TypeError)
    for hint in ("&, | and ~", "filter.accepts(event)"):
        assert hint in str(caught.value)


@given(filters(max_leaves=6))
def test_filters_are_values(filter):
    for same in (pickle.loads(pickle.dumps(filter)), copy.deepcopy(filter), copy.copy(filter)):
        assert same == filter
        assert hash(same) == hash(filter)
        assert {filter: 1}[same] == 1


SCHEMA, BUDGET = "a schema is a Schema, or None", "a budget is a number of steps"
WRONG_OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"schema": {}}, SCHEMA),
    ({"budget": "5"}, BUDGET),
    ({"budget": None}, BUDGET),
]


@pytest.mark.parametrize(
    "name", ["simplify", "lint", "covers", "overlaps", "disjoint", "equivalent"]
)
def test_a_question_refuses_other_schemas_and_budgets(name):
    filters = (TEXT,) if name in OF_ONE else (TEXT, TEXT)
    for options, expected in WRONG_OPTIONS:
        with pytest.raises(ArgumentError, match=f"^{expected}.*; given: (dict|str|NoneType)$"):
            getattr(boolcast, name)(*filters, **options)


def test_the_parser_refuses_other_schemas_and_limits():
    with pytest.raises(ArgumentError, match=f"^{SCHEMA}; given: dict$"):
        parse("a < 5", schema={})  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"^limits are a .*; given: NoneType$"):
        parse("a < 5", limits=None)  # type: ignore[arg-type]


def test_a_schema_is_read_from_text_only():
    with pytest.raises(ArgumentError, match=r"^the JSON of a schema is .*; given: NoneType$"):
        Schema.from_json(None)  # type: ignore[arg-type]


def test_a_result_combines_and_answers_like_a_filter():
    price, title = SIMPLER.filter, parse("title = 'Emma'")
    assert And((price, price)) == SIMPLER & SIMPLER
    assert SIMPLER & "title = 'Emma'" == And((price, title)) == SIMPLER & title
    assert And((title, price)) == "title = 'Emma'" & SIMPLER
    assert Or((price, title)) == SIMPLER | "title = 'Emma'"
    assert Or((title, price)) == "title = 'Emma'" | SIMPLER
    assert Not(price) == ~SIMPLER
    assert SIMPLER.accepts({"price": 24})
    assert not SIMPLER.accepts({"price": 25})
    with pytest.raises(ArgumentError):
        SIMPLER & 5  # type: ignore[operator]
    with pytest.raises(ArgumentError):
        5 | SIMPLER  # type: ignore[operator]


def test_an_explanation_is_true_if_the_event_is_accepted():
    assert explain(FILTER, {"price": 24})
    assert not explain(FILTER, {"price": 25})
    assert not explain(FILTER, {})
