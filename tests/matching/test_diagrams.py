"""Shared diagrams: P2's examples, one node for one function, and nothing left behind."""

from collections.abc import Iterable

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.errors import EventError
from boolcast.filters.expressions import Filter
from boolcast.filters.limits import Limits
from boolcast.filters.parsing import parse
from boolcast.matching.diagrams.diagrams import Diagrams
from boolcast.matching.diagrams.engine import MbdEngine
from boolcast.matching.diagrams.nodes import Nodes
from boolcast.matching.diagrams.variable_order import attribute_order, statistics_of
from boolcast.matching.inputs.event_sample import EventSample
from boolcast.matching.values.shapes import Inner
from boolcast.model.events import Event
from boolcast.model.identifiers import SubscriptionId
from boolcast.model.schemas import Attribute, Schema
from boolcast.model.statistics import AttributeUse, SubscriptionStatistics
from boolcast.optimising.merging.by_rules import MergingRules
from boolcast.optimising.merging.groups import AttributeOrder
from tests.matching.conformance import accepting
from tests.pipeline.statistics_oracle import use_of
from tests.strategies import SMALL_NAMES, events, filters

TAIL = "time = 'July 20,2004' and destination = 'Ottawa'"
INTEGERS = Schema(attributes={"x": Attribute("number", integer=True)})


def diagrams_of(*texts: str, order: tuple[str, ...] = (), **options: object) -> Diagrams:
    made = Diagrams(order, **options)  # type: ignore[arg-type]
    for text in texts:
        made.add(text, parse(text))
    return made


def size_below(nodes: Nodes, roots: Iterable[int]) -> int:
    """How many nodes these diagrams have together, not counting 0 and 1."""
    seen: set[int] = set()
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        if node > 1 and node not in seen:
            seen.add(node)
            waiting += (int(nodes.store.low[node]), int(nodes.store.high[node]))
    return len(seen)


def test_p2_t1_two_subscriptions_share_all_but_the_top():
    """P2-T1: four nodes, four variables, one diagram."""
    order = ("price", "time", "destination")
    s1, s2 = f"price = 150 and {TAIL}", f"price < 150 and {TAIL}"
    diagrams = diagrams_of(s1, s2, order=order)
    figures = diagrams.figures()
    assert (figures.nodes, figures.variables) == (4, 4)
    assert (figures.diagrams, figures.outputs) == (1, 2)
    diagrams.remove(s1)
    assert diagrams.figures().nodes == 3


CONJUNCTIONS = st.dictionaries(
    st.sampled_from(SMALL_NAMES), st.sampled_from(["= 1", "= 2", "< 1", "> 0"]), min_size=1
).map(lambda parts: parse(" and ".join(f"{name} {rest}" for name, rest in parts.items())))


@given(st.lists(CONJUNCTIONS, max_size=12))
def test_what_may_be_merged_shares_a_diagram(several):
    """P2-B2.4: groups by a dictionary are the outputs of one diagram with one attribute on top."""
    order = list(SMALL_NAMES)
    diagrams = Diagrams(order)
    entries = {SubscriptionId(str(number)): each for number, each in enumerate(several)}
    for name, filter in entries.items():
        diagrams.add(name, filter)
    by_root: dict[tuple[str, int, int], set[str]] = {}
    store = diagrams.nodes.store
    for name in entries:
        root = diagrams.root(name)
        attribute = diagrams.variables[int(store.variable[root])].attribute
        below = int(store.low[root]), int(store.high[root])
        by_root.setdefault((attribute, *below), set()).add(name)
    groups = MergingRules(AttributeOrder(order)).groups(entries.items())
    assert sorted(map(sorted, groups.values())) == sorted(map(sorted, by_root.values()))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a = 1 and b = 2", "b = 2.0 and a in (1)"),
        ("(a = 1 or b = 1) and (a = 1 or c = 1)", "a = 1 or b = 1 and c = 1"),
        ("not (a < 5 or b is null)", "a >= 5 and b is not null"),
        ("a > 3 and a < 9", "a < 9 and not (a <= 3)"),
        ("a = 1 and (b = 1 or true)", "a = 1"),
        ("a > b and c = 1", "c = 1 and b < a"),
        ("a between 4 and 2", "a = 1 and a = 2"),
        ("a is null or a is not null", "true"),
    ],
)
def test_equal_functions_are_one_node(one, other):
    diagrams = diagrams_of(one, other)
    assert diagrams.root(one) == diagrams.root(other)
    assert diagrams.figures().outputs == 1


def test_a_predicate_and_its_complement_are_two_variables():
    diagrams = diagrams_of("a < 5", "not (a < 5)", "a < 5 or a >= 5")
    assert diagrams.figures().variables == 3
    assert len({diagrams.root(text) for text in ("a < 5", "not (a < 5)", "a < 5 or a >= 5")}) == 3
    assert diagrams.root("a < 5 or a >= 5") != 1


def test_equivalent_predicates_are_one_variable_only_where_the_schema_says_so():
    texts = ("x > 9", "x >= 10")
    assert diagrams_of(*texts).figures().variables == 2
    assert diagrams_of(*texts, schema=INTEGERS).figures().variables == 1


def test_a_conjunction_is_built_without_joins():
    diagrams = diagrams_of(" and ".join(f"a{number} = 1" for number in range(200)))
    assert diagrams.nodes.steps == 0
    assert diagrams.figures().nodes == 200


@given(st.lists(filters(small=True), max_size=12), st.randoms(use_true_random=False))
def test_nodes_are_there_as_long_as_somebody_needs_them(several, chance):
    diagrams = Diagrams(limit=64)
    names = [str(number) for number in range(len(several))]
    for name, filter in zip(names, several, strict=True):
        diagrams.add(name, filter)
    chance.shuffle(names)
    while names:
        roots = [root for name in names if (root := diagrams.root(name)) is not None]
        assert diagrams.figures().nodes == size_below(diagrams.nodes, roots)
        diagrams.remove(names.pop())
    figures = diagrams.figures()
    assert (figures.nodes, figures.variables, figures.diagrams) == (0, 0, 0)


def test_numbers_are_used_again():
    diagrams = Diagrams()
    for turn in range(50):
        diagrams.add("s", parse(f"a = {turn} and (b = {turn} or c = {turn})"))
        diagrams.remove("s")
    assert diagrams.nodes.used <= 10


EXPLODING = " or ".join(f"a{number} = 1 and b{number} = 1" for number in range(12))
"""With all of a above all of b, some two to the twelfth nodes."""

SEPARATED = tuple(f"{name}{number}" for name in "ab" for number in range(12))


def test_a_filter_that_would_explode_stays_outside():
    diagrams = diagrams_of("a0 = 1 and b3 = 1", order=SEPARATED, limit=256)
    before = diagrams.figures()
    diagrams.add("large", parse(EXPLODING))
    assert diagrams.figures().outside == 1
    assert (diagrams.figures().nodes, diagrams.figures().variables) == (
        before.nodes,
        before.variables,
    )
    assert diagrams.covering(parse("true")).covers == ["a0 = 1 and b3 = 1"]
    diagrams.remove("large")
    assert len(diagrams) == 1


@pytest.mark.slow
def test_a_diagram_as_deep_as_no_stack():
    """200,000 variables one below the other, joined from two halves."""
    nodes = Nodes(limit=1_000_000)
    count = 200_000
    for variable in range(count):
        nodes.set_level(variable, variable)
    halves = [Inner(True, tuple(range(first, count, 2))) for first in (0, 1)]
    root = nodes.build(Inner(True, (*halves, Inner(False, (0, 1)))))
    assert root is not None
    assert size_below(nodes, [root]) == count
    nodes.release(root)
    assert len(nodes) == 0


def test_a_long_conjunction_has_no_cut_and_matches():
    """Its path is longer than the room to look for a cut in."""
    count = 3_000
    texts = [f"a{number} = {number}" for number in range(count)]
    long = parse(" and ".join(texts), limits=Limits(text=10**6, predicates=count))
    several = {"long": long, "short": parse(" and ".join(texts[-20:]))}
    diagrams = Diagrams()
    for name, filter in several.items():
        diagrams.add(name, filter)
    assert diagrams.figures().outside == 0
    index, names = diagrams.index(EventSample().selectivity())
    event = {f"a{number}": number for number in range(count)}
    for changes, accepted in (
        ({}, ["long", "short"]),
        ({"a0": 1}, ["short"]),
        ({"a1500": 0}, ["short"]),
        ({"a2999": 0}, []),
    ):
        changed = Event({**event, **changes})
        found = [name for n in index.matches_of_one(changed) for each in n for name in names[each]]
        assert sorted(found) == accepting(several, changed) == accepted


@given(st.lists(filters(small=True), min_size=1, max_size=6), st.lists(events(small=True)))
def test_outside_filters_match_all_the_same(several, some):
    """With room for two nodes, most filters are outside."""
    engine = MbdEngine(limit=2)
    subscriptions: dict[str, Filter] = {str(n): each for n, each in enumerate(several)}
    for name, filter in subscriptions.items():
        engine.add(name, filter)
    for event in some:
        assert sorted(engine.match(event)) == accepting(subscriptions, event)


def use(share: int, concentration: float, **companions: int) -> AttributeUse:
    return AttributeUse(
        subscriptions=share, predicates=9, concentration=concentration, companions=companions
    )


@pytest.mark.parametrize(
    ("uses", "order"),
    [
        ({"rare": use(10, 0.1), "common": use(90, 0.1)}, ["rare", "common"]),
        ({"spread": use(50, 0.01), "narrow": use(50, 0.5)}, ["spread", "narrow"]),
        (
            {
                "top": use(50, 0.1),
                "friend": use(49, 0.1, bottom=40),
                "bottom": use(90, 0.1, friend=40),
            },
            ["top", "friend", "bottom"],
        ),
    ],
)
def test_order_by_frequency_concentration_and_company(uses, order):
    """P2-B3, from the top to the bottom."""
    statistics = SubscriptionStatistics(subscriptions=100, attributes=uses)
    assert attribute_order(statistics) == order


@given(st.lists(filters(small=True), max_size=6))
def test_statistics_are_those_that_spark_learns(several):
    counted = statistics_of(several)
    expected = use_of({str(number): filter for number, filter in enumerate(several)})
    assert counted.predicates == expected.predicates
    assert counted.attributes.keys() == expected.attributes.keys()
    for name, found in counted.attributes.items():
        other = expected.attributes[name]
        assert (found.subscriptions, found.predicates) == (other.subscriptions, other.predicates)
        assert found.concentration == pytest.approx(other.concentration)
        assert found.companions == other.companions


def test_the_engine_orders_anew_when_it_has_twice_as_many():
    engine = MbdEngine()
    engine.add("s", "a = 1 and b = 1")
    engine.match({})
    for number in range(20):
        engine.add(str(number), f"a = 1 and c{number} = 1")
    order = engine.diagrams.variables.attribute_order()
    assert order[-1] == "a"
    assert engine.figures().nodes == 22


def test_statistics_of_subscriptions_give_the_order():
    uses = {"a": use(90, 0.1), "b": use(10, 0.1)}
    given_order = SubscriptionStatistics(subscriptions=100, attributes=uses)
    engine = MbdEngine(order=attribute_order(given_order))
    engine.add("s", "a = 1 and b = 1")
    assert engine.diagrams.variables.attribute_order() == ["b", "a"]


def test_an_event_visits_what_may_be_true_only():
    """Of a thousand diagrams with a selective tail, and a range above that half of events meet."""
    engine = MbdEngine()
    for number in range(1_000):
        engine.add(str(number), f"price < {number % 7} and title = {number}")
    assert engine.match({"price": 3, "title": 500}) == []
    assert engine.match({"price": 3, "title": 501}) == ["501"]
    visits = engine.visits()
    assert visits.nodes <= 4
    assert visits.variables <= 2


def test_what_events_are_like_is_learnt_from_them():
    """All are of one kind, as no guess by the form of a predicate says, and none is dear."""
    engine = engine_of_one_kind()
    event = {"kind": "k7", "price": 0}
    engine.match({"kind": "k1", "price": 1_000})
    engine.match(event)
    assert engine.visits().nodes > 100
    for _ in range(300):
        assert engine.match(event) == []
    assert engine.visits().nodes < 10


def engine_of_one_kind() -> MbdEngine:
    engine = MbdEngine()
    for number in range(500):
        engine.add(str(number), f"kind = 'k7' and price > {number}")
    for number in range(50):
        engine.add(f"kind {number}", f"kind = 'k{number}' and flag = true")
    return engine


ONE_KIND = pa.table({"kind": ["k7"] * 400, "price": [0] * 400})


@pytest.mark.parametrize(
    "events",
    [
        ONE_KIND,
        ONE_KIND.combine_chunks().to_batches()[0],
        b"\n".join([b'{"kind": "k7", "price": 0}'] * 400),
    ],
    ids=["table", "batch", "lines"],
)
def test_the_first_batch_is_learnt_from_before_it_is_matched(events):
    engine = engine_of_one_kind()
    reader = engine.match_batch(events)
    assert engine._sample.is_full
    engine.add("late", "kind = 'k7'")
    engine.remove("7")
    assert reader.read_all().num_rows == 0
    assert engine.match_batch(events).read_all()["subscription"].unique().to_pylist() == ["late"]
    assert engine.visits().nodes < 10


def test_what_comes_from_a_reader_is_learnt_from_on_the_way():
    """It is not read before the matches are; then the index is made once more."""
    engine = engine_of_one_kind()
    taken = []

    def batches():
        for batch in ONE_KIND.to_batches(max_chunksize=100) * 2:
            taken.append(batch)
            yield batch

    reader = engine.match_batch(pa.RecordBatchReader.from_batches(ONE_KIND.schema, batches()))
    assert not taken
    assert reader.read_all().num_rows == 0
    assert len(taken) == 8
    assert engine._sample.is_full
    assert engine.visits().nodes < 10


def test_a_change_while_matches_are_read_does_not_show_when_enough_is_learnt():
    engine = MbdEngine()
    engine.add("s", "kind = 'k7'")
    source = pa.RecordBatchReader.from_batches(ONE_KIND.schema, iter(ONE_KIND.to_batches()))
    reader = engine.match_batch(source)
    engine.add("late", "kind = 'k7'")
    engine.remove("s")
    assert reader.read_all()["subscription"].to_pylist() == ["s"] * 400
    assert engine.match({"kind": "k7"}) == ["late"]


def test_a_malformed_first_event_is_found_by_whoever_reads_the_matches():
    engine = engine_of_one_kind()
    reader = engine.match_batch(b"{")
    with pytest.raises(EventError):
        reader.read_all()


def test_a_filter_that_shares_nothing_is_asked_once():
    """Its rarest predicate is in the middle of the order, so there are several nodes for it."""
    engine = MbdEngine(order=["a", "b", "c", "d", "title", "e", "f", "g", "h"])
    for number in range(200):
        texts = (f"({one} = {number} or {two} < {number})" for one, two in ("ae", "bf", "cg", "dh"))
        engine.add(str(number), f"title = {number} and {' and '.join(texts)}")
    row = {**dict.fromkeys("abcd", 7), **dict.fromkeys("efgh", 1)}
    for number in range(300):
        engine.match({"title": number, **row})
    assert engine.match({"title": 7, **row}) == ["7"]
    visits = engine.visits()
    assert visits.nodes <= 2
    assert engine.match({"title": 1, **row}) == []


def test_single_events_see_what_changed_at_once():
    engine = MbdEngine()
    for number in range(100):
        engine.add(str(number), f"a = {number}")
    assert engine.match({"a": 5}) == ["5"]
    engine.add("new", "a = 5")
    engine.remove("5")
    assert engine.match({"a": 5}) == ["new"]
    engine.add("new", "a = 6")
    assert sorted(engine.match({"a": 6})) == ["6", "new"]
    assert engine.match({"a": 5}) == []
    engine.remove("new")
    engine.add("5", "a = 7")
    assert engine.figures().filters == 100
    assert sorted(engine.match({"a": 7})) == ["5", "7"]
    assert engine.match({"a": 5}) == []


@pytest.mark.parametrize(
    "twice",
    [
        "a like '%x%' or contains(a, 'x')",
        "a < b or b > a",
        "ends_with(a, 'x') and a like '%x'",
        "not contains(a, 'x') or a not like '%x%'",
    ],
)
def test_two_spellings_of_one_constraint_are_one_node(twice):
    diagrams = Diagrams()
    diagrams.add("s", parse(twice))
    assert (diagrams.figures().nodes, diagrams.figures().variables) == (1, 1)
    diagrams.remove("s")
    assert diagrams.figures().nodes == 0


def test_a_constraint_that_is_there_twice_hides_nothing_beside_it():
    engine = MbdEngine(order=["d", "c"])
    engine.add("p", "d > 0")
    engine.add("q", "d like '%y%' and c = 0")
    engine.add("s", "contains(d, 'y') or d like '%y%' or c < 0 or b = 1 and c = 7")
    assert sorted(engine.match({"c": -1, "d": 2})) == ["p", "s"]
    engine.remove("s")
    assert engine.match({"c": -1, "d": 2}) == ["p"]
