"""Ids and texts in bulk: read by their literals, kept once, and made Python objects only late."""

import re
from datetime import UTC, datetime
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import sampled_from

from boolcast.errors import FilterError, SubscriptionIdError, UsageError
from boolcast.filters.expressions import AttributeComparison
from boolcast.filters.limits import Limits
from boolcast.filters.parsing import parse
from boolcast.matching.inputs.encoding import SingleEvent
from boolcast.matching.matcher import Matcher
from boolcast.matching.segment import bulk_load
from boolcast.matching.segment.bulk_load import Loader
from boolcast.matching.segment.kernel_runner import find_matches
from boolcast.matching.segment.literal_templates import split
from boolcast.matching.segment.strings import StringColumn
from boolcast.matching.segment.subscription_rows import rows_of
from boolcast.model.events import Event
from tests.matching.conformance import ENGINES, accepting

# --- Texts by their literals

TEMPLATES = (
    "a = {n}",
    "a!={n}",
    "{n}<=a and a is not null",
    "a in ({n}, {n})",
    "a not in ({n}, {n})",
    "a between {n} and {n} or a = true",
    "a not between {n} and {n}",
    "a in (true, false) and c = {n}",
    "b = {s}",
    "b < {s} or c > {n}",
    "b in ({s},{s}) and not (c < {n})",
    "b like {s}",
    "b like {s} escape {s}",
    "b not like {s}",
    "starts_with(b, {s})",
    "ends_with(b, {s})",
    "not starts_with(b, {s})",
    "contains(b, {s}) and ends_with(b, {s})",
    "matches(b, {s})",
    "a > c and c != {n}",
    "t >= timestamp {t}",
    "t in (timestamp {t}, timestamp {t})",
    '"b" = {s} and "b c" != {n}',
    "true or a = {n}",
    "a = {n} and (c = {n} or b = {s})",
)
NUMBERS = ("0", "1", "2", "-1", "+1", "1.0", ".5", "1.", "1e0", "9007199254740993", "1e999")
STRINGS = ("''", "'a'", "'ab'", "'a%'", "'_'", "'%b'", "''''", "'1'", "'a = 1'", "'é'", "'('")
INSTANTS = ("'2026-01-31'", "'2026-01-31T00:00:00Z'", "'2027-01-01T10:00:00.5Z'", "'soon'", "''")
EVENTS: list[dict[str, object]] = [
    {},
    {"a": 1},
    {"a": 1.0, "c": 2},
    {"a": True, "c": 1},
    {"a": 2**53 + 1},
    {"a": -1, "c": 0.5},
    {"b": "a", "b c": 1, "c": 1},
    {"b": "b", "a": 0, "c": -1},
    {"a": 0.5, "b": "ab", "c": 2},
    {"t": datetime(2026, 1, 31, tzinfo=UTC)},
    {"t": datetime(2027, 1, 1, 10, 0, 0, 500_000, tzinfo=UTC)},
]
EVENTS += [{"b": text} for text in ("", "a", "ab", "'", "_", "a%", "é", "a = 1", "(")]


def table_of(texts: list[str]) -> pa.Table:
    names = [f"s{number}" for number in range(len(texts))]
    types = pa.schema([("subscription", pa.string()), ("filter", pa.string())])
    return pa.table({"subscription": names, "filter": texts}, types)


def texts_of(template: str) -> list[str]:
    """The template with all literals, a few hundred at most."""
    marks = re.findall(r"\{.\}", template)
    pools = [{"{n}": NUMBERS, "{s}": STRINGS, "{t}": INSTANTS}[mark] for mark in marks]
    texts = []
    for literals in product(*pools):
        parts = zip(re.split(r"\{.\}", template), (*literals, ""), strict=True)
        texts.append("".join(part for pair in parts for part in pair))
    return texts[:: 1 + len(texts) // 400]


@pytest.mark.parametrize("characters", [60, bulk_load._TEMPLATE_CHARACTERS])
@pytest.mark.parametrize("template", TEMPLATES)
def test_texts_read_by_their_literals_mean_what_the_parser_reads(template, characters, monkeypatch):
    """Literals may change the shape of a filter, make it false, or be an error."""
    monkeypatch.setattr(bulk_load, "_TEMPLATE_CHARACTERS", characters)
    check(texts_of(template))


def test_forms_side_by_side_do_not_mix_their_literals_up():
    check([text for template in TEMPLATES for text in texts_of(template)[::9]])


def check(texts: list[str]) -> None:
    """Load all at once, beside the parser and the reference evaluator."""
    expected, model = [], {}
    for row, text in enumerate(texts):
        try:
            model[f"s{row}"] = parse(text)
        except FilterError as error:
            reason = f"{error.problem}; {error.hint}" if error.hint else error.problem
            expected.append((row, text, reason, error.position))
    matcher = Matcher()
    rejects = matcher.add_many(table_of(texts)).to_pylist()
    kept = ("row", "filter", "error", "position")
    assert [tuple(each[name] for name in kept) for each in rejects] == expected
    assert len(matcher) == len(model)
    for event in EVENTS:
        assert sorted(matcher.match(event)) == accepting(model, event)


@pytest.mark.parametrize(
    ("text", "literals"),
    [
        ("a = 5", ["5"]),
        ("a=-5 and b<+.5e-3", ["-5", "+.5e-3"]),
        ("a5 = 1. or b.c5 = .5", ["1.", ".5"]),
        ("b in ('x', 'it''s 5', '')", ["'x'", "'it''s 5'", "''"]),
        ("\"a 5 'q'\" = 'y'", ["'y'"]),
        ("5 < a", ["5"]),
        ("a = 5x and b = 5.5.5 and c = 1e", []),
        ("a between 1 and 2 and b = '", ["1", "2"]),
    ],
)
def test_what_a_literal_is(text, literals):
    assert split(text)[1] == literals


def test_forms_are_told_apart_by_names_in_quotes_and_kinds_of_literals():
    texts = ['"x" = 1', '"y" = 1', "\"x\" = '1'", '"x" = 2']
    forms = [split(text)[0] for text in texts]
    assert len(set(forms)) == 3
    assert forms[0] == forms[3]


def test_only_the_first_texts_of_a_form_are_parsed(monkeypatch):
    parsed = []

    def parse_and_count(text, **rest):
        parsed.append(text)
        return parse(text, **rest)

    monkeypatch.setattr(bulk_load, "parse", parse_and_count)
    texts = [
        f"a in ({n}, {n + 1}) and t > timestamp '2026-01-01T00:00:{n % 60:02}Z' and f = true "
        f"and not starts_with(b, 'x{n}') and c like '%!_{n}%' escape '!' "
        f"and d between -{n} and {n}.5"
        for n in range(100)
    ]
    matcher = Matcher()
    assert matcher.add_many(table_of(texts)).num_rows == 0
    assert parsed == texts[:2]
    event = {
        "a": 8,
        "t": datetime(2026, 1, 31, tzinfo=UTC),
        "f": True,
        "b": "y",
        "c": "_7_",
        "d": -7,
    }
    assert matcher.match(event) == ["s7"]


def test_forms_are_forgotten_before_they_are_too_many(monkeypatch):
    monkeypatch.setattr(bulk_load, "_TEMPLATE_CHARACTERS", 1_000)
    loader = Loader(Limits())
    loader.take(rows_of(table_of([f"a{n // 2} = {n}" for n in range(900)])))
    assert len(loader._templates) < 150
    assert len(loader._constants._tables) < 150


# --- Filters once


def test_equal_filters_are_stored_once():
    """A million ids on one filter are a million ids and one filter."""
    sizes = []
    for count in (1_000, 3_000):
        matcher = Matcher()
        texts = [f"price < {row % 7} and title = 'Dune'" for row in range(count)]
        matcher.add_many(table_of(texts))
        sizes.append(matcher.stats())
    small, large = sizes
    assert (small.filters, large.filters) == (7, 7)
    assert large.structure_bytes == small.structure_bytes
    assert large.filter_bytes == small.filter_bytes
    assert large.text_bytes == small.text_bytes
    assert (large.id_bytes - small.id_bytes) / 2_000 < 32


def test_merging_makes_equal_filters_one(tmp_path):
    matcher = Matcher()
    matcher.add_many(table_of(["x = 1", "x = 2", "x = 1", "x = 2", "x = 5"]))
    matcher.add("p", "x = 1")
    matcher.add("q", parse("x = 2"))
    matcher.add("r", "x = 3 or x > y")
    matcher.match_batch(b"")
    matcher.add("u", "x = 3 or x > y")
    for name in ("s1", "s4", "r"):
        matcher.remove(name)
    matcher.merge()
    matcher.save(tmp_path)
    for each in (matcher, Matcher.load(tmp_path)):
        stats = each.stats()
        assert (stats.subscriptions, stats.filters, stats.dead) == (6, 3, 0)
        holders = {1: ["p", "s0", "s2"], 2: ["q", "s3"], 3: ["u"], 4: [], 5: []}
        for name in ("s3", "p", "u", "s0", "q", "s2"):
            assert {value: sorted(each.match({"x": value})) for value in holders} == holders
            assert each.match({"x": 9, "y": 8}) == holders[3]
            each.remove(name)
            holders = {value: [x for x in names if x != name] for value, names in holders.items()}


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 64])
def test_holders_of_one_filter_however_little_room_there_is(rows):
    texts = ["x = 1 or y = 1", "x = 1", "x = 1 or y = 1", "y < 3", "x = 1 or y = 1", "x = 1"] * 2
    matcher = Matcher()
    matcher.add_many(table_of(texts))
    matcher.remove("s2")
    matcher.remove("s7")
    ((live,), _, _, version) = matcher._state
    event = SingleEvent(Event({"x": 1, "y": 1}))
    found = [
        live.subscriptions[place]
        for hits in find_matches(live, event, version, rows=rows)
        for place in hits.positions.tolist()
    ]
    assert sorted(found) == sorted(f"s{n}" for n in range(12) if n not in (2, 7))


def test_a_residual_is_asked_once_for_all_that_hold_it(monkeypatch):
    asked = []
    matcher = Matcher()
    matcher.add_many(table_of(["x > y"] * 50 + ["y > x"] * 50))
    accepts = AttributeComparison.accepts

    def accepts_and_counts(filter, event):
        asked.append(str(filter))
        return accepts(filter, event)

    monkeypatch.setattr(AttributeComparison, "accepts", accepts_and_counts)
    assert sorted(matcher.match({"x": 2, "y": 1})) == sorted(f"s{n}" for n in range(50))
    assert sorted(asked) == ["x > y", "y > x"]


def test_of_rows_with_one_id_the_last_that_can_be_taken_counts():
    rows = [("a", "x = 1"), ("b", "x = 1"), ("a", "x = 2"), ("b", "x ="), ("a", "x = 3")]
    table = pa.table({"subscription": [r[0] for r in rows], "filter": [r[1] for r in rows]})
    matcher = Matcher()
    matcher.add("a", "x = 4")
    assert matcher.add_many(table)["row"].to_pylist() == [3]
    assert len(matcher) == 2
    found = {value: matcher.match({"x": value}) for value in range(1, 5)}
    assert found == {1: ["b"], 2: [], 3: ["a"], 4: []}
    matcher.remove("a")
    assert matcher.match({"x": 3}) == []


# --- Python objects only late


@given(st.lists(st.text()), sampled_from([pa.string(), pa.large_string()]), st.data())
def test_strings_are_those_that_went_in(strings, kind, data):
    kept = StringColumn.of(strings, kind)
    assert len(kept) == len(strings)
    assert [kept[place] for place in range(len(strings))] == strings
    places = data.draw(st.lists(st.integers(0, len(strings) - 1))) if strings else []
    for _ in range(2):
        assert kept.at(np.array(places, np.int32)) == [strings[place] for place in places]


COUNT = 1_536


def test_the_look_up_by_id_is_made_by_the_first_who_needs_it(tmp_path):
    matcher = Matcher()
    matcher.add_many(table_of([f"x = {n % 50}" for n in range(COUNT)]))
    matcher.save(tmp_path)
    assert matcher._known is None

    def loaded() -> Matcher:
        again = Matcher.load(tmp_path)
        assert len(again) == COUNT
        assert again.match_batch(pa.table({"x": [7]})).read_all().num_rows == 31
        stats = again.stats(expensive=3)
        assert len(stats.expensive) == 3
        ((live,), _, _, _) = again._state
        assert live.subscriptions._made is None
        assert again._known is None
        return again

    again = loaded()
    assert ("s7" in again, "t" in again) == (True, False)
    assert again._known is not None
    again = loaded()
    again.remove("s7")
    assert len(again) == COUNT - 1
    assert "s7" not in again.match({"x": 7})
    again = loaded()
    again.add("s7", "x = 8")
    assert len(again) == COUNT
    assert "s7" not in again.match({"x": 7})
    assert "s7" in again.match({"x": 8})
    again = loaded()
    again.add_many(table_of(["x = 9"] * 8))
    assert len(again) == COUNT
    assert sorted(set(again.match({"x": 9})) - {f"s{n}" for n in range(9, 2_000, 50)}) == [
        f"s{n}" for n in range(8)
    ]


def test_the_text_is_kept_as_it_was_given():
    matcher = Matcher()
    matcher.add("text", "contains( title,'x' )")
    matcher.add("tree", parse("contains( title,'y' )"))
    matcher.merge()
    texts = {each.subscription: each.filter for each in matcher.stats().expensive}
    assert texts == {"text": "contains( title,'x' )", "tree": "contains(title, 'y')"}


def test_a_text_past_the_usual_limits_can_be_loaded_again(tmp_path):
    matcher = Matcher(limits=Limits(depth=100))
    matcher.add("deep", "(" * 90 + "x > y" + ")" * 90)
    matcher.save(tmp_path)
    assert Matcher.load(tmp_path).match({"x": 2, "y": 1}) == ["deep"]


# --- Ids that are no text


@pytest.mark.parametrize("engine", ENGINES)
def test_an_id_with_a_lone_surrogate_is_refused(engine):
    matcher = ENGINES[engine]()
    matcher.add("\U00010000", "x = 1")
    with pytest.raises(SubscriptionIdError, match="lone surrogate") as caught:
        matcher.add("a\ud800", "x = 1")
    assert caught.value.subscription == "a\ud800"
    with pytest.raises(UsageError, match="the id of a subscription is a string"):
        matcher.add(5, "x = 1")  # type: ignore[arg-type]
    assert matcher.match({"x": 1}) == ["\U00010000"]


def test_rows_that_are_no_text_are_rejected():
    broken = pa.array([b"a", b"\xed\xa0\x80", b"c", b"d"]).view(pa.string())
    texts = pa.array([b"x = 1", b"x = 1", b"x = '\xff'", b"x = 1"]).view(pa.string())
    matcher = Matcher()
    rejects = matcher.add_many(pa.table({"subscription": broken, "filter": texts})).to_pylist()
    assert [(each["row"], each["error"]) for each in rejects] == [
        (1, "the subscription is not UTF-8"),
        (2, "the filter is not UTF-8"),
    ]
    lines = b'{"subscription": "\\ud800 ", "filter": "x = 1"}\n'
    assert "cannot be read" in matcher.add_many(lines)["error"][0].as_py()
    assert sorted(matcher.match({"x": 1})) == ["a", "d"]
