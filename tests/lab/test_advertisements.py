"""The experiments of P3 on advertisements: their sizes, small runs, and checks that can fail."""

from collections.abc import Callable
from itertools import pairwise

import msgspec
import pytest
from msgspec.structs import replace

from boolcast.algebra import overlaps
from boolcast.lab.papers.advertisements.checks import (
    BASE_OVERLAP,
    FULL_MEMORY,
    checks,
    first_gain,
)
from boolcast.lab.papers.advertisements.overlap import (
    IndexSize,
    OverlapFigures,
    OverlapRow,
    OverlapSetting,
)
from boolcast.lab.papers.advertisements.pruning import (
    KINDS,
    MIX,
    AdvertisementPoint,
    PruningFigures,
    PruningSetting,
)
from boolcast.lab.papers.advertisements.run import EXPERIMENTS, RunFigures, run
from boolcast.lab.papers.runs import keep, kept, settings_of
from boolcast.workloads import PRESETS, Auction
from boolcast.workloads.classes import PRUNINGS

PRUNING = PruningSetting(
    part="pruning", kind=MIX, subscriptions=120, advertisements=80, samples=30, steps=8, seed=1
)


def test_the_sizes_are_the_papers():
    chosen = settings_of(EXPERIMENTS, EXPERIMENTS, scale=1.0, seed=1)
    assert len({each.label for each in chosen}) == len(chosen) == 6 + 9 + 11
    overlap = sorted(
        (each.advertisements, each.first, each.all)
        for each in chosen
        if isinstance(each, OverlapSetting)
    )
    assert overlap[0] == (20_000, 25_000, 2_500)
    assert overlap[-1] == (300_000, 25_000, 2_500)
    pruning = [each for each in chosen if isinstance(each, PruningSetting)]
    assert {(e.subscriptions, e.advertisements, e.samples) for e in pruning} == {
        (100_000, 50_000, 2_000)
    }
    combined = [each.subscription_pruning for each in pruning if each.part == "combined"]
    assert sorted(combined) == [number / 10 for number in range(11)]


def test_the_index_finds_what_the_algebra_proves():
    setting = OverlapSetting(advertisements=60, first=40, all=40, seed=2)
    figures = run(setting)
    assert isinstance(figures, OverlapFigures)
    auction = Auction(PRESETS["P3"], seed=2)
    advertisements = list(auction.advertisement_filters(0, 60))
    shares = [
        sum(bool(overlaps(each, asked)) for each in advertisements) / 60
        for asked in auction.subscription_filters(0, 40)
    ]
    assert figures.row("S1-3", "all").found == pytest.approx(sum(shares) / 40)
    assert figures.row("S1-3", "first").answered == sum(share > 0 for share in shares) / 40
    assert figures.disagreements == 0
    leaves = sum(len(list(each.predicates())) for each in advertisements)
    assert figures.sizes["boolean"].associations == leaves
    assert figures.sizes["conjunctive"].filters > figures.sizes["boolean"].filters == 60


@pytest.mark.slow
def test_pruning_goes_from_whole_to_exhausted_and_overlaps_only_grow():
    figures = run(PRUNING)
    assert isinstance(figures, PruningFigures)
    points = figures.points
    assert len(points) == 9
    for before, after in pairwise(points):
        assert before.operations < after.operations
        assert before.predicates > after.predicates
        assert before.overlapping <= after.overlapping
        assert after.overlapping <= after.candidates
    auction = Auction(PRESETS["P3"], seed=1)
    whole = list(auction.advertisement_filters(0, 80))
    assert points[0].predicates == sum(len(list(each.predicates())) for each in whole)
    pairs = [
        bool(overlaps(advertisement, subscription))
        for advertisement in whole[:30]
        for subscription in auction.subscription_filters(0, 120)
    ]
    assert points[0].overlapping == pytest.approx(sum(pairs) / len(pairs))
    classes = auction.advertisements(0, 80)["class"].to_pylist()
    assert points[-1].operations == sum(PRUNINGS[kind] for kind in classes)
    assert sum(figures.orders.values()) == 80


def test_pruned_subscriptions_overlap_with_more():
    figures = [
        run(replace(PRUNING, part="combined", subscription_pruning=share)) for share in (0.0, 1.0)
    ]
    whole, last = (each.points[0] for each in figures if isinstance(each, PruningFigures))
    assert last.overlapping > whole.overlapping
    assert last.overlapping == last.candidates
    kept = [each.subscription_predicates for each in figures if isinstance(each, PruningFigures)]
    assert kept[0][0] == kept[0][1] == kept[1][0] > 3 * kept[1][1]


def test_a_result_is_taken_for_just_its_setting(tmp_path):
    figures = overlap(20)
    keep(tmp_path, figures)
    decoder = msgspec.json.Decoder(OverlapFigures)
    assert kept(tmp_path, figures.setting, decoder) == figures
    assert kept(tmp_path, replace(figures.setting, advertisements=30), decoder) is None
    (path,) = (tmp_path / "runs").iterdir()
    path.write_bytes(path.read_bytes().replace(b'"seed":1', b'"seed":2'))
    assert kept(tmp_path, figures.setting, decoder) is None
    path.write_bytes(path.read_bytes()[:-2])
    assert kept(tmp_path, figures.setting, decoder) is None


def curve(kind: str, cut_off: float, rise: float, *, share: float = 0.0) -> PruningFigures:
    """Figures as the paper has them: overlaps stay as they are until the cut-off."""
    setting = PruningSetting(
        part="combined" if share else "pruning",
        kind=kind,
        subscriptions=100,
        advertisements=100,
        samples=100,
        steps=20,
        seed=1,
        subscription_pruning=share,
    )
    leaves = 1_000
    base = 0.75 if share else BASE_OVERLAP[kind]
    # Memory goes straight to where the paper has it at its cut-off, and from there to the end.
    middle = {"A2": (0.73, 0.476), MIX: (0.77, 0.49), "A8": (0.73, 0.438)}.get(kind, (1.0, 0.0))
    operations = 100 * PRUNINGS.get(kind, 4)
    points = []
    for number in range(21):
        x = number / 20
        end = FULL_MEMORY[kind]
        place, saved = middle if middle[1] else (1.0, end)
        memory = (
            saved * x / place if x <= place else saved + (end - saved) * (x - place) / (1 - place)
        )
        risen = rise * max(0.0, (x - cut_off) / (1 - cut_off)) if cut_off < 1 else rise * x
        points.append(
            AdvertisementPoint(
                operations=round(operations * x),
                predicates=round(leaves * (1 - memory)),
                overlapping=base + risen,
                candidates=base + risen if share else 1.2,
                all_work=1_000.0,
                first_work=1_000.0 - (100 if share else 400) * x,
                all_milliseconds=1.0,
                first_milliseconds=1.0,
            )
        )
    orders = {"A1": "buyItNow, special, category", "A2": "buyItNow, special, price+price"}
    formats = "format hardcover, format softcover"
    return PruningFigures(
        setting=setting,
        subscription_predicates=(800, 800),
        points=points,
        orders={orders.get(kind, formats): 100},
        processor_seconds=1.0,
    )


def overlap(advertisements: int) -> OverlapFigures:
    rows = [
        OverlapRow(
            subscriptions=name,
            scenario=scenario,
            form=form,
            questions=10,
            answered=1.0,
            found=found,
            sets=2.0,
            candidates=candidates,
            associations=advertisements * (2.0 if form == "boolean" else 3.0),
            leaves=float(advertisements),
            milliseconds=1.0 if form == "boolean" else 3.0,
        )
        for name, found, candidates in (
            ("S1", 0.04, 1.29),
            ("S2", 0.35, 1.85),
            ("S3", 1.0, 1.36),
            ("S1-3", 0.46, 1.5),
        )
        for scenario in ("first", "all")
        for form in ("boolean", "conjunctive")
    ]
    return OverlapFigures(
        setting=OverlapSetting(advertisements=advertisements, first=10, all=10, seed=1),
        sizes={"boolean": IndexSize(1, 1, 1), "conjunctive": IndexSize(1, 1, 1)},
        rows=rows,
        disagreements=0,
        processor_seconds=1.0,
    )


PUBLISHED: dict[str, RunFigures] = {
    **{
        kind: curve(kind, cut_off, rise)
        for kind, cut_off, rise in (
            ("A1", 1.0, 0.05),
            ("A2", 0.73, 0.49),
            ("A3", 1.0, 0.01),
            ("A4", 1.0, 0.01),
            ("A5", 1.0, 0.01),
            ("A6", 0.7, 0.45),
            ("A7", 1.0, 0.05),
            ("A8", 0.73, 0.43),
            (MIX, 0.77, 0.19),
        )
    },
    "20k": overlap(20_000),
    "300k": overlap(300_000),
    "0 %": replace(
        curve(MIX, 1.0, 0.18),
        setting=replace(PRUNING, part="combined", advertisements=100),
    ),
    "100 %": curve(MIX, 1.0, 0.0, share=1.0),
}
"""What the paper says, as if we had found it."""


def pruned(name: str, change: Callable[[AdvertisementPoint], AdvertisementPoint], *places: int):
    """The curve of that name with some of its points changed."""

    def doctor(runs: dict[str, RunFigures]) -> RunFigures:
        figures = runs[name]
        assert isinstance(figures, PruningFigures)
        points = list(figures.points)
        for place in places or range(len(points)):
            points[place] = change(points[place])
        return replace(figures, points=points)

    return name, doctor


def asked(change: Callable[[OverlapRow], OverlapRow], name: str, scenario: str = "all"):
    """The largest run with some rows of Boolean advertisements changed."""

    def doctor(runs: dict[str, RunFigures]) -> RunFigures:
        figures = runs["300k"]
        assert isinstance(figures, OverlapFigures)
        key = (name, scenario, "boolean")
        rows = [
            change(each) if (each.subscriptions, each.scenario, each.form) == key else each
            for each in figures.rows
        ]
        return replace(figures, rows=rows)

    return "300k", doctor


def ordered(kind: str, order: str):
    return kind, lambda runs: replace(runs[kind], orders={order: 10, "price": 1})


def test_what_the_paper_says_passes_every_check():
    made = checks(list(PUBLISHED.values()))
    assert [each.name for each in made if not each.holds] == []
    assert {each.number for each in made} == set(range(1, 13))


def test_there_are_no_checks_without_their_runs():
    assert checks([PUBLISHED["A1"]]) == []
    numbers = {each.number for each in checks([PUBLISHED["20k"], PUBLISHED["300k"]])}
    assert numbers == {8, 10}
    assert checks([]) == []


@pytest.mark.parametrize(
    ("broken", "number", "word"),
    [
        (pruned("A5", lambda p: replace(p, operations=p.operations // 2)), 1, "prunings to"),
        (pruned("A3", lambda p: replace(p, predicates=300), -1), 1, "A1 to A7"),
        (pruned("A8", lambda p: replace(p, predicates=500), -1), 1, "A8"),
        (pruned("A6", lambda p: replace(p, predicates=p.predicates - 50), 14), 2, "published"),
        (pruned("A4", lambda p: replace(p, overlapping=p.overlapping + 0.06)), 3, "whole"),
        (pruned("A6", lambda p: replace(p, overlapping=0.9), -1), 4, "A2, A6, A8"),
        (pruned("A5", lambda p: replace(p, overlapping=0.37), -1), 4, "A3, A4, A5"),
        (pruned("A7", lambda p: replace(p, overlapping=0.66), -1), 4, "A7"),
        (pruned("A1", lambda p: replace(p, overlapping=0.64), -1), 4, "A1"),
        (pruned("A2", lambda p: replace(p, overlapping=0.9), *range(8, 20)), 5, "A2"),
        (pruned("A7", lambda p: replace(p, overlapping=0.99), *range(15, 21)), 5, "A7"),
        (pruned(MIX, lambda p: replace(p, predicates=300), 15, 16), 6, "0.77"),
        (pruned(MIX, lambda p: replace(p, overlapping=0.6), 15), 6, "0.77"),
        (ordered("A2", "price+price, buyItNow"), 7, "buyItNow"),
        (ordered("A8", "format hardcover, price"), 7, "both formats"),
        (ordered("A7", "format softcover, format hardcover"), 7, "then softcover"),
        (asked(lambda row: replace(row, candidates=2.3), "S2"), 8, "candidates"),
        (asked(lambda row: replace(row, found=0.07), "S1"), 8, "overlap"),
        (asked(lambda row: replace(row, found=0.999), "S3"), 8, "overlap"),
        (pruned("A3", lambda p: replace(p, first_work=1_001.0), -1), 9, "First"),
        (asked(lambda row: replace(row, leaves=1e6), "S1-3"), 10, "work with 15"),
        (asked(lambda row: replace(row, associations=1e6), "S1"), 10, "counters"),
        (asked(lambda row: replace(row, milliseconds=4.0), "S3", "first"), 10, "as fast"),
        (("20k", lambda runs: replace(runs["20k"], disagreements=1)), 10, "differently"),
        (pruned(MIX, lambda p: replace(p, overlapping=0.7), -1), 11, "mean"),
        (pruned("0 %", lambda p: replace(p, overlapping=0.4), -1), 12, "greatest fall"),
        (pruned("100 %", lambda p: replace(p, candidates=0.78)), 12, "all subscription"),
        (pruned("100 %", lambda p: replace(p, overlapping=0.66)), 12, "all subscription"),
        (pruned("100 %", lambda p: replace(p, overlapping=0.7), -1), 12, "all subscription"),
        (
            pruned("100 %", lambda p: replace(p, overlapping=0.79, candidates=0.79), 9),
            12,
            "all sub",
        ),
        (pruned("100 %", lambda p: replace(p, overlapping=0.85), -1), 12, "all subscription"),
        (pruned("A4", lambda p: replace(p, overlapping=0.9), *range(12, 21)), 5, "A4"),
        (pruned("100 %", lambda p: replace(p, first_work=100.0), -1), 12, "work saved"),
    ],
)
def test_each_check_can_fail(broken, number, word):
    name, doctor = broken
    made = checks(list({**PUBLISHED, name: doctor(PUBLISHED)}.values()))
    failed = [(each.number, each.name) for each in made if not each.holds]
    assert any(found == number and word in title for found, title in failed), failed


def test_the_cut_off_is_the_end_where_overlaps_hardly_rise():
    """By the same rule for all (decision 42), so that one in the middle would show."""
    flat, steep = PUBLISHED["A7"], PUBLISHED["A2"]
    assert isinstance(flat, PruningFigures)
    assert isinstance(steep, PruningFigures)
    assert flat.proportion(flat.cut_off) == 1.0
    assert steep.proportion(steep.cut_off) == pytest.approx(0.7)
    assert steep.memory_at(0.73) == pytest.approx(0.476, abs=0.01)
    assert steep.memory_at(1.0) == steep.memory(steep.points[-1])
    assert set(KINDS) <= set(PUBLISHED)
    assert first_gain(flat) == pytest.approx(0.4)
