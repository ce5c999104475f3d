"""The diverse workload: as many shapes, operators and matches as it says, row by row."""

import pickle
import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boolcast.filters.expressions import Comparison, Filter, In, IsNull, StringTest
from boolcast.filters.parsing import parse
from boolcast.model.events import Event
from boolcast.workloads import Diverse
from boolcast.workloads import attributes as attributes_module
from boolcast.workloads.attributes import attributes
from boolcast.workloads.draws import Draws
from boolcast.workloads.random_shapes import Shape, Template, _fixed_options, random_shape

pytestmark = pytest.mark.slow

WORKLOAD = Diverse(seed=2)
CONSTANT = re.compile(r"timestamp '[^']*'|'[^']*'|-?\b\d[\d.]*\b|\btrue\b|\bfalse\b")


@pytest.fixture(scope="module")
def texts() -> list[str]:
    found: list[str] = WORKLOAD.subscriptions(0, 20_000)["filter"].to_pylist()
    return found


def has_equality(filter: Filter) -> bool:
    return any(
        isinstance(leaf, In) or (isinstance(leaf, Comparison) and leaf.operator == "=")
        for leaf in filter.predicates()
    )


def test_texts_and_trees_agree():
    filters = list(WORKLOAD.subscription_filters(50, 2_000))
    texts = WORKLOAD.subscriptions(50, 2_000)["filter"].to_pylist()
    assert texts == [str(filter) for filter in filters]
    assert [parse(text) for text in texts] == filters


def test_single_rows_agree_with_the_table():
    for row, entry in enumerate(WORKLOAD.subscriptions(0, 50).to_pylist()):
        assert entry == {
            "subscription": f"s{row}",
            "class": WORKLOAD.subscription_class(row),
            "filter": str(WORKLOAD.subscription(row)),
        }
    events = WORKLOAD.events(0, 20).to_pylist()
    assert [WORKLOAD.event(row) for row in range(20)] == [*map(Event.from_python, events)]


@settings(max_examples=5)
@given(cuts=st.lists(st.integers(0, 40_000), max_size=4), start=st.integers(0, 2**40))
def test_slices_do_not_matter(cuts, start):
    edges = [0, *sorted(cuts), 40_000]
    slices = [WORKLOAD.events(start + low, high - low) for low, high in pairwise(edges)]
    assert pa.concat_tables(slices).equals(WORKLOAD.events(start, 40_000))


def test_slices_of_subscriptions_do_not_matter():
    start = 2**40
    edges = [0, 1, 700, 32_768, 33_000]
    slices = [WORKLOAD.subscriptions(start + low, high - low) for low, high in pairwise(edges)]
    assert pa.concat_tables(slices).equals(WORKLOAD.subscriptions(start, 33_000))


def test_it_survives_pickling():
    copy = pickle.loads(pickle.dumps(WORKLOAD))
    assert copy.events(0, 100) == WORKLOAD.events(0, 100)
    assert copy.subscriptions(0, 100) == WORKLOAD.subscriptions(0, 100)


def test_seeds_differ():
    other = Diverse(seed=3)
    assert {*map(str, other.shapes)} != {*map(str, WORKLOAD.shapes)}
    assert other.events(0, 10) != WORKLOAD.events(0, 10)


def test_there_are_more_than_a_thousand_shapes(texts):
    shapes = {CONSTANT.sub("?", text) for text in texts}
    assert 1_400 <= len(shapes) <= 1_500
    counts = Counter(WORKLOAD.subscriptions(0, 20_000)["class"].to_pylist())
    assert len(counts) == 1_500
    assert max(counts.values()) < 40


def test_filters_have_2_to_20_predicates_over_30_attributes(texts):
    filters = [parse(text) for text in texts[:5_000]]
    sizes = Counter(len(list(filter.predicates())) for filter in filters)
    assert set(sizes) == set(range(2, 21))
    assert max(sizes.values()) < 2 * min(sizes.values())
    names = set().union(*(filter.attributes() for filter in filters))
    assert names == set(attributes()) == set(WORKLOAD.events(0, 1).schema.names)
    assert len(names) == 30


def test_a_tenth_of_the_shapes_has_no_equality():
    without = [
        number
        for number, shape in enumerate(WORKLOAD.shapes)
        if not has_equality(shape.filter([0.5] * 40))
    ]
    assert len(without) < 0.15 * len(WORKLOAD.shapes)
    assert set(range(0, 1_500, 10)) <= set(without)


def test_the_operator_families_are_mixed(texts):
    notations = Counter(
        template.notation for shape in WORKLOAD.shapes for template in shape.templates
    )
    total = notations.total()
    assert notations["="] == pytest.approx(0.3 * total, rel=0.2)
    ranges = (
        notations["<"] + notations["<="] + notations[">"] + notations[">="] + notations["between"]
    )
    assert ranges == pytest.approx(0.43 * total, rel=0.2)
    assert 0.1 * total < notations["in"] < 0.2 * total
    assert 0.02 * total < notations["starts_with"] + notations["like"] < 0.1 * total
    assert 0.03 * total < notations["null"] + notations["not null"] < 0.1 * total
    assert 0.01 * total < notations["!="] < 0.05 * total


def test_constants_vary_within_a_shape():
    classes = WORKLOAD.subscriptions(0, 20_000)
    by_class: dict[str, set[str]] = {}
    for entry in classes.to_pylist():
        by_class.setdefault(entry["class"], set()).add(entry["filter"])
    distinct = sum(map(len, by_class.values()))
    assert distinct > 0.98 * 20_000


def test_the_documented_table_is_that_of_the_code():
    assert attributes_module.__doc__
    _, _, table, _ = re.split(r"^=[= ]+=$", attributes_module.__doc__, flags=re.MULTILINE)
    documented = {}
    for line in table.strip().splitlines():
        cells = re.split(r" {2,}", line.strip())
        names, _, count, law = cells[:4]
        shares = cells[4].removesuffix(" %").split(", ") if len(cells) > 4 else ["0"]
        for i, name in enumerate(names.split(", ")):
            zipf = float(law.removeprefix("by Zipf, ")) if law.startswith("by Zipf") else 0.0
            missing = int(shares[i if len(shares) > 1 else 0]) / 100
            documented[name] = (int(count.replace(",", "")), zipf, missing)
    assert documented == {
        # The two lognormal laws have about as many values.
        name: (
            {"amount": 11_000, "latency": 1_500}.get(name, len(set(attribute.values))),
            attribute.zipf,
            attribute.missing,
        )
        for name, attribute in attributes().items()
    }


def test_attributes_are_missing_as_often_as_stated():
    events = WORKLOAD.events(0, 20_000)
    for name, attribute in attributes().items():
        assert events[name].null_count / 20_000 == pytest.approx(attribute.missing, abs=0.015)


@pytest.mark.parametrize("name", attributes())
def test_values_are_as_stated(name):
    attribute = attributes()[name]
    column = WORKLOAD.events(0, 60_000)[name].drop_null()
    assert set(column.unique().to_pylist()) <= set(attribute.array.to_pylist())
    top = column.value_counts().to_pylist()
    largest = max(entry["counts"] for entry in top) / len(column)
    if attribute.zipf:
        weights = np.arange(1, attribute.size + 1) ** -attribute.zipf
        assert largest == pytest.approx(weights[0] / weights.sum(), rel=0.1)
    elif attribute.size <= 100:
        assert len(top) == attribute.size
        assert largest < 1.3 / attribute.size


@pytest.mark.parametrize("family", ["=", "!=", "starts_with", "like", "null", "not null"])
def test_the_share_of_a_template_of_fixed_share_is_true(family):
    options = [option for option in _fixed_options() if option.family == family]
    countable = [option for option in options if option.share > 0.005]
    assert countable
    for option in countable[:12]:
        assert_share(Template(option, family))


@pytest.mark.parametrize("notation", ["<", "<=", ">", ">=", "between", "in"])
def test_the_share_of_a_template_that_was_fitted_is_true(notation):
    templates = [
        template
        for shape in WORKLOAD.shapes
        for template in shape.templates
        if template.notation == notation
    ]
    for template in [each for each in templates if each.share > 0.05][:12]:
        assert_share(template)


def assert_share(template: Template) -> None:
    """Ask it of 4,000 events, each with constants of its own."""
    events = WORKLOAD.events(0, 4_000).select([template.attribute]).to_pylist()
    fractions = Draws(7).fractions("first", np.arange(8_000, dtype=np.uint64)).tolist()
    accepted = 0
    for row, event in enumerate(events):
        numbers = template.numbers(fractions[2 * row], fractions[2 * row + 1])
        filter = template.filled([template.operands.values[number] for number in numbers])
        accepted += filter.accepts({k: v for k, v in event.items() if v is not None})
    error = (template.share * (1 - template.share) / 4_000) ** 0.5
    # Whole values make a range a little wider or narrower than wanted.
    assert accepted / 4_000 == pytest.approx(template.share, abs=4.5 * error + 0.005)


def test_the_share_of_a_tree_is_that_of_its_templates():
    shape = random_shape(Draws(1), 17, predicates=6, share=0.2, has_equality=True)
    assert shape.share == pytest.approx(0.2, rel=0.5)
    assert accepted_share(shape, events=4_000) == pytest.approx(shape.share, rel=0.15)


def accepted_share(shape: Shape, events: int) -> float:
    rows = np.arange(events, dtype=np.uint64)
    columns = [Draws(3).fractions(f"{slot}", rows).tolist() for slot in range(40)]
    drawn = [Event.from_python(event) for event in WORKLOAD.events(0, events).to_pylist()]
    filters = map(shape.filter, zip(*columns, strict=True))
    return float(np.mean([f.accepts(event) for f, event in zip(filters, drawn, strict=True)]))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_about_20_matches_an_event_at_200_000_subscriptions_by_the_shares(seed):
    expected = 200_000 * np.mean([shape.share for shape in Diverse(seed=seed).shapes])
    assert expected == pytest.approx(20, rel=0.2)


@pytest.mark.long
def test_about_20_matches_an_event_at_200_000_subscriptions_by_evaluation():
    events = [Event.from_python(event) for event in WORKLOAD.events(0, 120).to_pylist()]
    filters = WORKLOAD.subscription_filters(0, 10_000)
    matches = sum(filter.accepts(event) for filter in filters for event in events)
    assert 20 / 1.5 < matches / len(events) / 10_000 * 200_000 < 20 * 1.5


def test_null_tests_meet_events_with_and_without():
    seen = {
        (leaf.negated, leaf.accepts(event))
        for filter in WORKLOAD.subscription_filters(0, 200)
        for leaf in filter.predicates()
        if isinstance(leaf, IsNull)
        for event in map(Event.from_python, WORKLOAD.events(0, 10).to_pylist())
    }
    assert len(seen) == 4


def test_prefixes_are_of_strings(texts):
    leaves = [
        leaf
        for text in texts[:2_000]
        for leaf in parse(text).predicates()
        if isinstance(leaf, StringTest)
    ]
    assert {leaf.attribute for leaf in leaves} == {"path", "postcode"}
    assert {leaf.function for leaf in leaves} == {"starts_with"}


GOLDEN = {
    1: "account = 'account 26995' and country != 'country 8'"
    " or account = 'account 11286' and status = 'status 3'",
    4: "brand in ('brand 265', 'brand 86') and (rating = 3.9 or age between 91 and 92"
    " or postcode between '0204' and '0364') and (latency between 37 and 411"
    " or campaign is not null) and score is not null",
}


@pytest.mark.parametrize("row", GOLDEN)
def test_the_generator_has_not_changed(row):
    assert str(Diverse(seed=1).subscription(row)) == GOLDEN[row]
