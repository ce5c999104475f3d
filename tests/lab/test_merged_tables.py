"""One broker's table: nothing is lost, what is left is what covering and rules leave."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.algebra import covers
from boolcast.filters.expressions import Comparison, Filter, conjunction
from boolcast.filters.parsing import parse
from boolcast.lab.papers.diagrams.merged_tables import CoveringByRemainder, TableLeft, table_left
from boolcast.model.identifiers import SubscriptionId
from boolcast.optimising.merging.by_rules import MergingRules, Threshold
from boolcast.optimising.merging.groups import AttributeOrder
from boolcast.optimising.merging.merger_imperfection import Advertised, AllEvents, Audience
from boolcast.optimising.statistics.probabilities import Uniform
from boolcast.workloads.pairs import ATTRIBUTES, PairParameters, Pairs
from tests.strategies import filters

ORDER = AttributeOrder(("a", "b", "c"))
COVERING = CoveringByRemainder(ORDER)


def named(several: list[Filter]) -> dict[SubscriptionId, Filter]:
    return {SubscriptionId(f"s{place}"): each for place, each in enumerate(several)}


def left(texts: list[str], rules: MergingRules | None = None) -> list[str]:
    table = table_left(named(list(map(parse, texts))), covering=COVERING, rules=rules)
    return list(map(str, table.entries.values()))


def test_covering_across_tails():
    texts = ["a < 5 and b = 1 and c = 1", "a < 9 and b = 1", "a = 3 and b = 1", "b = 1 and a < 9"]
    assert left(texts) == ["a < 9 and b = 1"]
    assert left(["a < 5 and b = 2", "a < 9 and b = 1"]) == ["a < 5 and b = 2", "a < 9 and b = 1"]
    assert left(["a = 1 and b = 3", "b > 2", "a = 1 or b = 1", "a = 1 or b = 1"]) == [
        "b > 2",
        "a = 1 or b = 1",
    ]


def test_mergers_take_part_in_covering():
    """R5: neither constituent covers the longer one."""
    texts = ["a < 5 and b = 1", "a = 5 and b = 1", "a <= 5 and b = 1 and c = 1"]
    assert left(texts) == texts
    assert left(texts, MergingRules(ORDER)) == ["a <= 5 and b = 1"]


def test_without_covering_all_is_kept():
    entries = named([parse("a < 5"), parse("a < 3")])
    table = table_left(entries)
    assert (table.received, table.uncovered, len(table)) == (2, 2, 2)
    assert table.entries == entries


LEAVES = st.builds(
    Comparison,
    st.sampled_from(("a", "b", "c")),
    st.sampled_from(["=", "=", "=", "<", ">", "!="]),
    st.integers(0, 3),
)
CONJUNCTIONS = st.lists(LEAVES, min_size=1, max_size=3).map(conjunction)


@given(
    st.lists(st.one_of(CONJUNCTIONS, CONJUNCTIONS, filters(small=True, max_leaves=3)), max_size=12)
)
def test_what_goes_is_covered_by_what_stays(several: list[Filter]):
    """Law 3 for this covering, by the algebra."""
    entries = named(list(several))
    kept = COVERING(entries)
    assert kept == [name for name in entries if name in kept], "in their order"
    for name, each in entries.items():
        if name not in kept:
            assert any(covers(entries[other], each) for other in kept), str(each)


TAILS = st.dictionaries(st.sampled_from(("b", "c")), st.integers(0, 1), max_size=2)


@given(st.lists(st.tuples(LEAVES, TAILS), max_size=12))
def test_where_remainders_are_equalities_no_covering_is_missed(
    several: list[tuple[Comparison, dict[str, int]]],
):
    entries = named(
        [
            conjunction(
                [
                    Comparison("a", top.operator, top.value),
                    *(Comparison(name, "=", value) for name, value in tail.items()),
                ]
            )
            for top, tail in several
        ]
    )
    kept = COVERING(entries)
    for name in kept:
        assert not any(covers(entries[other], entries[name]) for other in kept if other != name), (
            str(entries[name])
        )


SMALL = PairParameters(pairs=40, upper_values=12, lower_values=3, weights=(0.3, 0.3, 0.4))


@pytest.fixture(scope="module")
def tables() -> dict[str, TableLeft]:
    pairs = Pairs(SMALL, seed=1)
    entries = named(list(pairs.subscription_filters(0, 300)))
    order = AttributeOrder(ATTRIBUTES)
    chances = Uniform.of_schema(pairs.schema)
    audiences: dict[str, Audience] = {
        "all": AllEvents(chances),
        "advertised": Advertised(chances, pairs.advertisement_filters(0, 1)),
    }
    covering = CoveringByRemainder(order)
    found = {
        "none": table_left(entries),
        "covering": table_left(entries, covering=covering),
        "perfect": table_left(
            entries, covering=covering, rules=MergingRules(order, schema=pairs.schema)
        ),
    }
    for name, audience in audiences.items():
        for share in (0.0, 0.002, 0.01, 0.05, 1.0):
            rules = MergingRules(order, schema=pairs.schema, threshold=Threshold(share, audience))
            found[f"{name} {share}"] = table_left(entries, covering=covering, rules=rules)
    return found


def test_sizes_fall_from_method_to_method(tables):
    """P2-X6.1, .6 and .8 in small."""
    sizes = {name: len(table) for name, table in tables.items()}
    assert sizes["none"] == 300
    assert sizes["none"] > sizes["covering"] > sizes["perfect"] > sizes["all 1.0"]
    assert sizes["all 0.0"] == sizes["perfect"]
    assert sizes["all 0.0"] > sizes["all 0.01"] > sizes["all 0.05"] >= sizes["all 1.0"]
    for share in ("0.0", "0.01", "0.05", "1.0"):
        assert sizes[f"advertised {share}"] <= sizes[f"all {share}"]
    assert sizes["advertised 0.002"] < sizes["all 0.002"]


def test_no_method_loses_an_event(tables):
    """P2-X6.9: whom an event is for is reached by every table; perfect ones reach nobody else."""
    events = [Pairs(SMALL, seed=1).event(row) for row in range(150)]
    subscriptions = tables["none"].entries
    wanted = [any(each.accepts(event) for each in subscriptions.values()) for event in events]
    assert 0 < sum(wanted) < len(events)
    for name, table in tables.items():
        sent = [any(each.accepts(event) for each in table.entries.values()) for event in events]
        assert all(s or not w for s, w in zip(sent, wanted, strict=True)), name
        if name in ("covering", "perfect", "all 0.0"):
            assert sent == wanted


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "shares"), [("A", (0.255, 0.154, 0.126)), ("B", (0.558, 0.493, 0.337))]
)
def test_the_calibrated_shares(name, shares):
    """P2-X1 at a tenth of its size: as many subscriptions for each pair."""
    whole = Pairs(name, seed=1).parameters
    parameters = PairParameters(
        pairs=whole.pairs // 10,
        upper_values=whole.upper_values,
        lower_values=whole.lower_values,
        weights=whole.weights,
    )
    pairs = Pairs(parameters, seed=1)
    entries = named(list(pairs.subscription_filters(0, 20_000)))
    order = AttributeOrder(ATTRIBUTES)
    covering = CoveringByRemainder(order)
    unlimited = Threshold(1.0, AllEvents(Uniform.of_schema(pairs.schema)))
    perfect = table_left(entries, covering=covering, rules=MergingRules(order, schema=pairs.schema))
    imperfect = table_left(
        entries,
        covering=covering,
        rules=MergingRules(order, schema=pairs.schema, threshold=unlimited),
    )
    sizes = (perfect.uncovered, len(perfect), len(imperfect))
    assert [size / 20_000 for size in sizes] == pytest.approx(shares, abs=0.01)
