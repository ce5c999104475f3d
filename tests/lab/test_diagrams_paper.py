"""The experiments of P2 on decision diagrams: their sizes, small runs, and checks that can fail."""

import pytest
from msgspec.structs import replace

from boolcast.filters.parsing import parse
from boolcast.lab.papers.diagrams.checks import checks
from boolcast.lab.papers.diagrams.imt import ImtFigures, ImtSetting
from boolcast.lab.papers.diagrams.insertion import InsertionFigures, InsertionSetting
from boolcast.lab.papers.diagrams.run import EXPERIMENTS, FIGURES, run
from boolcast.lab.papers.diagrams.tables import METHODS, TableFigures, TableSetting
from boolcast.lab.papers.diagrams.workload import accepted_events, filters_of, judged, pairs_of
from boolcast.lab.papers.reproduction import checked
from boolcast.lab.papers.runs import keep, kept, settings_of

pytestmark = pytest.mark.slow

TABLE = TableSetting(set="A", subscriptions=600, events=200, seed=1)
INSERTION = InsertionSetting(set="A", subscriptions=600, samples=10, seed=1)
IMT = ImtSetting(set="A", subscriptions=300, events=2_000, seed=1, advertised=False)


@pytest.fixture(scope="module")
def table() -> TableFigures:
    found = run(TABLE)
    assert isinstance(found, TableFigures)
    return found


@pytest.fixture(scope="module")
def insertion() -> InsertionFigures:
    found = run(INSERTION)
    assert isinstance(found, InsertionFigures)
    return found


@pytest.fixture(scope="module")
def curves() -> list[ImtFigures]:
    runs = [run(replace(IMT, advertised=known)) for known in (False, True)]
    return [each for each in runs if isinstance(each, ImtFigures)]


def test_the_sizes_are_the_papers():
    chosen = settings_of(EXPERIMENTS, EXPERIMENTS, scale=1.0, seed=1)
    assert len({each.label for each in chosen}) == len(chosen) == 2 + 2 * 5 + 2 + 2
    assert {each.subscriptions for each in chosen if not isinstance(each, ImtSetting)} == {200_000}
    assert {each.subscriptions for each in chosen if isinstance(each, ImtSetting)} == {100_000}
    assert {each.events for each in chosen if isinstance(each, TableSetting)} == {50_000}


def test_a_smaller_set_has_as_many_subscriptions_to_a_pair():
    assert pairs_of("A", 200_000, 1).parameters.pairs == 25_000
    assert pairs_of("B", 2_000, 1).parameters.pairs == 600


def test_every_method_leaves_less_and_loses_nothing(table):
    assert [each.method for each in table.methods] == list(METHODS)
    sizes = [each.entries for each in table.methods]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == 600
    assert [each.missed for each in table.methods] == [0] * 4
    assert [each.in_vain for each in table.methods[:3]] == [0] * 3
    assert all(each.visited < each.scanned for each in table.methods)


def test_covering_in_diagrams_leaves_what_closed_forms_leave(table, insertion):
    assert [point.subscriptions for point in insertion.points] == list(range(30, 601, 30))
    assert insertion.points[-1].entries == table.of("covering").entries


def test_one_pass_and_the_cache_change_no_answer(insertion):
    assert insertion.different == 0
    assert insertion.evaluated("search") == 0
    assert 0 < insertion.evaluated("one pass") < insertion.evaluated("two passes")


def test_another_order_merges_less(table):
    shuffled = run(replace(TABLE, shuffle=1))
    assert isinstance(shuffled, TableFigures)
    assert shuffled.of("covering").entries == table.of("covering").entries
    assert shuffled.of("perfect").entries > table.of("perfect").entries
    assert shuffled.of("perfect").microseconds is None


def test_thresholds_make_tables_smaller(curves):
    for curve in curves:
        sizes = [point.entries for point in curve.points]
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[0] > sizes[-1]
        assert not any(point.missed for point in curve.points)
        assert curve.points[0].false == 0
        assert curve.points[0].expected == 0


def test_false_matches_are_as_many_as_expected(curves):
    last = curves[0].points[-1]
    assert last.false == pytest.approx(last.expected, abs=4 * last.expected**0.5)


def test_single_mergers_are_judged_by_events_that_have_their_tail(curves):
    for curve in curves:
        last = curve.points[-1]
        assert last.telling > 3
        assert last.apart <= 1


def test_a_wrong_imperfection_is_told():
    pairs = pairs_of("A", 600, 1)
    merger, constituents = parse("u0 <= 9 and l0 = 1"), [parse("u0 < 3 and l0 = 1")]
    events = pairs.events(0, 500).to_pylist()
    right = 7 / 33 / 100
    for imperfection, apart in ((right, 0), (right / 2, 1), (right * 2, 1)):
        mergers = [(merger, constituents, imperfection)]
        assert judged(mergers, parse("true"), pairs, events) == (1, apart)


def test_events_are_made_for_subscriptions():
    pairs = pairs_of("A", 600, 1)
    filters = list(pairs.subscription_filters(0, 600))
    made = accepted_events(pairs, filters, 200)
    assert len(made) > 150
    for event in made.to_pylist():
        assert any(filter.accepts(event) for filter in filters)
        assert all(1 <= event[name] <= size for name, size in pairs.sizes.items())


def test_checks_of_what_was_run(table, insertion, curves):
    runs = [table, insertion, *curves]
    assert {each.number for each in checks(runs)} == {1, 2, 4, 5, 6, 7, 8, 9}
    assert {each.number for each in checks([table])} == {1, 2, 9}
    assert not checks([])


def failed(runs) -> set[int]:
    return {each.number for each in checks(runs) if not each.holds}


def test_checks_can_fail(table, insertion, curves):
    lossy = replace(table, methods=[replace(each, missed=1) for each in table.methods])
    assert 9 in failed([lossy])
    grown = replace(table, methods=[replace(each, entries=600) for each in table.methods])
    assert 1 in failed([grown])
    slow = replace(table, methods=[replace(each, microseconds=1e9) for each in table.methods])
    assert 2 in failed([slow])
    assert 4 in failed([replace(insertion, different=1)])
    points = [
        replace(point, evaluated={**point.evaluated, "one pass": 1e9}) for point in insertion.points
    ]
    assert 4 in failed([replace(insertion, points=points)])
    slow_cache = {"cached": 1e9, "compared": 1.0, "ranges": 1.0}
    points = [replace(point, predicates=slow_cache) for point in insertion.points]
    assert 5 in failed([replace(insertion, points=points)])
    plain, told = curves
    rising = replace(plain, points=plain.points[::-1])
    assert {6, 7} & failed([rising])
    more = [replace(point, entries=point.entries + 1) for point in told.points]
    assert 8 in failed([plain, replace(told, points=more)])
    wrong = [replace(point, false=10_000) for point in plain.points]
    assert 7 in failed([replace(plain, points=wrong)])
    apart = [replace(point, apart=point.telling) for point in plain.points]
    assert 7 in failed([replace(plain, points=apart)])
    silent = [replace(point, telling=0) for point in plain.points]
    assert 7 in failed([replace(plain, points=silent)])
    unasked = [replace(each, proven=0) for each in table.methods]
    assert 9 in failed([replace(table, methods=unasked)])


def test_orders_are_compared_once_there_are_five(table):
    other = replace(table, setting=replace(table.setting, shuffle=1))
    assert 3 not in {each.number for each in checks([table, *[other] * 4])}
    assert 3 in failed([table, *[other] * 5])


def test_figures_are_kept(table, insertion, curves, tmp_path):
    for each in (table, insertion, curves[0]):
        keep(tmp_path, each)
        assert kept(tmp_path, each.setting, FIGURES) == each


def test_a_report_has_its_checks(table):
    made = checked(checks)([table], scale=0.003, seed=1)
    assert made.checks == checks([table])


def test_filters_have_the_names_of_their_rows():
    pairs = pairs_of("A", 600, 1)
    filters = filters_of(pairs, 3)
    assert list(filters) == ["s0", "s1", "s2"]
    assert filters["s2"] == pairs.subscription(2)  # type: ignore[index]
