"""`boolcast reproduce pruning` without Spark: its runs, what is kept of them, the checks."""

from collections.abc import Iterable

import msgspec
import pytest

from boolcast.lab.papers.pruning.checks import checks
from boolcast.lab.papers.pruning.experiment import (
    BROKERS,
    SETTINGS,
    Curve,
    NetworkCurve,
    NetworkPoint,
    P,
    PruningCurve,
    PruningPoint,
    Setting,
)
from boolcast.lab.papers.pruning.one_broker import pruning_curve
from boolcast.lab.papers.pruning.run import (
    EXPERIMENTS,
    FIGURES,
    Chunk,
    ChunkFigures,
    ExperimentName,
    curves,
    run,
)
from boolcast.lab.papers.runs import here, reproduce, settings_of

TINY = 0.0003


def test_at_the_full_scale_the_sizes_are_the_published_ones():
    sizes = {
        (chunk.part, chunk.experiment.subscriptions, chunk.experiment.events)
        for chunk in settings_of(EXPERIMENTS, EXPERIMENTS, scale=1.0, seed=1)
    }
    assert sizes == {("x5", 200_000, 100_000), ("x3", 20_000, 10_000)}


@pytest.mark.parametrize(("scale", "count"), [(0.1, 8), (1.0, 12)])
def test_chunks_have_every_step_of_every_curve_once(scale, count):
    found: dict[tuple[str, str], list[int]] = {}
    chosen = settings_of(EXPERIMENTS, EXPERIMENTS, scale=scale, seed=1)
    assert len(chosen) == count
    for chunk in chosen:
        steps = found.setdefault((chunk.part, chunk.experiment.setting), [])
        steps += range(chunk.first, chunk.last + 1)
        assert chunk.last <= chunk.experiment.steps
    assert len(found) == 8
    assert all(sorted(steps) == list(range(len(steps))) for steps in found.values())


def small(part: ExperimentName) -> Chunk:
    """Of class 3, which has the fewest prunings, with hardly anything learnt."""
    chosen = settings_of(EXPERIMENTS, [part], scale=TINY, seed=1)
    chunk = next(chunk for chunk in chosen if chunk.experiment.setting == "3")
    experiment = msgspec.structs.replace(chunk.experiment, training_events=300, steps=3)
    return msgspec.structs.replace(chunk, experiment=experiment, last=3)


@pytest.mark.slow
def test_links_that_no_event_crosses():
    """Subscriptions to titles are so few in a tiny run that links stay empty."""
    chosen = settings_of(EXPERIMENTS, ["x3"], scale=TINY, seed=1)
    chunk = next(chunk for chunk in chosen if chunk.experiment.setting == "1")
    experiment = msgspec.structs.replace(chunk.experiment, training_events=300, events=20)
    figures = run(msgspec.structs.replace(chunk, experiment=experiment))
    assert min(count for point in figures.network_points for count in point.links) == 0


@pytest.mark.slow
def test_a_run_that_is_kept_is_not_run_again(tmp_path):
    whole_curve = small("x5")
    chosen = [
        msgspec.structs.replace(whole_curve, last=1),
        msgspec.structs.replace(whole_curve, first=2),
    ]
    ran: list[Chunk] = []

    def counted(chunk: Chunk) -> ChunkFigures:
        ran.append(chunk)
        return run(chunk)

    first = reproduce(chosen[:1], here(counted), FIGURES, tmp_path)
    whole = reproduce(chosen, here(counted), FIGURES, tmp_path)
    assert ran == chosen
    assert whole[0] == first[0]
    # One that was of another size is none of these.
    other = msgspec.structs.replace(
        chosen[0], experiment=msgspec.structs.replace(chosen[0].experiment, events=10)
    )
    reproduce([other], here(counted), FIGURES, tmp_path)
    assert ran == [*chosen, other]

    ((curve,), networks) = curves(whole)
    assert not networks
    expected = pruning_curve(msgspec.structs.replace(chosen[0].experiment, timing_events=0))
    assert [point.matching for point in curve.points] == [
        point.matching for point in expected.points
    ]
    assert [point.work for point in curve.points] == [point.work for point in expected.points]


@pytest.mark.slow
def test_five_brokers(tmp_path):
    figures = reproduce([small("x3")], here(run), FIGURES, tmp_path)
    (curve,) = curves(figures)[1]
    assert curve.setting == "3"
    assert curve.points[-1].operations == 3 * curve.subscriptions
    assert all(point.are_deliveries_the_same for point in curve.points)
    assert all(point.counting_microseconds for point in curve.points)


SUBSCRIPTIONS, EVENTS = 100, 1_000

# Predicates that a subscription has lost after each pruning, and events that match then.
LOST: dict[Setting, list[float]] = {
    "1": [0, 1, 2, 4, 5],
    "2": [0, 1, 2, 3, 4, 6, 8, 10, 11],
    "3": [0, 2, 3, 5],
    "1-3": [0, 1, 2.5, 4.6, 6],
}
MATCHING: dict[Setting, list[int]] = {
    "1": [0, 1, 5, 25, 500],
    "2": [0, 0, 0, 0, 1, 5, 10, 17, 400],
    "3": [0, 5, 18, 800],
    "1-3": [0, 1, 5, 26, 800],
}
SPENT = {"1": 0.1, "2": 0.05, "3": 0.4, "1-3": 0.1}


def table(setting: Setting) -> PruningCurve:
    """As good as published."""
    last = len(LOST[setting]) - 1
    return Curve(
        setting=setting,
        subscriptions=SUBSCRIPTIONS,
        events=EVENTS,
        points=tuple(
            PruningPoint(
                operations=SUBSCRIPTIONS * step,
                predicates=round(SUBSCRIPTIONS * (12 - lost)),
                matching=10 + matching,
                associations=1.0 if step == 0 else SPENT[setting],
                counting_microseconds=1.0 if step == 0 else SPENT[setting],
            )
            for step, lost, matching in zip(
                range(last + 1), LOST[setting], MATCHING[setting], strict=True
            )
        ),
    )


def network(setting: Setting) -> NetworkCurve:
    curve = table(setting)
    return Curve(
        setting=setting,
        subscriptions=SUBSCRIPTIONS,
        events=EVENTS,
        points=tuple(
            NetworkPoint(
                operations=point.operations,
                predicates=point.predicates * (BROKERS - 1),
                deliveries=7,
                are_deliveries_the_same=True,
                links=(point.matching, point.matching, 0, 0),
                matched=EVENTS + 2 * point.matching,
                counting_microseconds=1.0 if step == 0 else 0.2 + 0.75 * SPENT[setting],
            )
            for step, point in enumerate(curve.points)
        ),
    )


def found(tables: Iterable[PruningCurve], networks: Iterable[NetworkCurve]) -> set[tuple[int, str]]:
    """The checks that do not hold."""
    return {
        (check.number, check.part)
        for check in checks(list(tables), list(networks))
        if not check.holds
    }


# In the network class 3 must come out lower than with one broker.
TABLES = {setting: table(setting) for setting in SETTINGS}
NETWORKS = {setting: network(setting) for setting in SETTINGS} | {
    "3": msgspec.structs.replace(
        network("3"),
        points=tuple(
            msgspec.structs.replace(point, predicates=predicates)
            for point, predicates in zip(
                network("3").points, [4_800, 4_000, 3_900, 2_800], strict=True
            )
        ),
    )
}


def test_all_checks_hold_for_what_was_published():
    assert len(checks(list(TABLES.values()), list(NETWORKS.values()))) == 15
    assert found(TABLES.values(), NETWORKS.values()) == set()
    assert found(TABLES.values(), []) == found([], NETWORKS.values()) == set()


def changed(curve: Curve[P], step: int, **figures: object) -> Curve[P]:
    points = list(curve.points)
    points[step] = msgspec.structs.replace(points[step], **figures)
    return msgspec.structs.replace(curve, points=tuple(points))


@pytest.mark.parametrize(
    ("setting", "step", "figures", "failing"),
    [
        ("1", -1, {"operations": 399}, (1, "x5")),
        ("2", 6, {"matching": 9, "predicates": 200}, None),
        ("2", 5, {"matching": -900}, (2, "x5")),
        ("1-3", 3, {"predicates": 900}, (3, "x5")),
        ("1", 3, {"matching": 70}, (4, "x5")),
        ("1-3", -1, {"matching": 130}, (4, "x5")),
        ("3", 2, {"counting_microseconds": 1.1}, (5, "x5")),
        ("3", 2, {"counting_microseconds": 0.01}, (5, "x5")),
        ("2", 7, {"counting_microseconds": 0.3}, (5, "x5")),
        ("1-3", 3, {"associations": 0.6}, (5, "x5")),
    ],
)
def test_every_check_of_one_broker_can_fail(setting, step, figures, failing):
    tables = TABLES | {setting: changed(TABLES[setting], step, **figures)}
    failed = found(tables.values(), [])
    assert failed == set() if failing is None else failing in failed


@pytest.mark.parametrize(
    ("setting", "step", "figures", "failing"),
    [
        ("1", -1, {"operations": 401}, (1, "x3")),
        ("1-3", 3, {"predicates": 4_000}, (3, "x3")),
        ("2", 2, {"are_deliveries_the_same": False}, (7, "x3")),
        ("2", 0, {"deliveries": 0}, (7, "x3")),
        ("3", 2, {"links": (100, 100, 0, 0)}, (7, "x3")),
        ("1", 3, {"counting_microseconds": 0.05}, (7, "x3")),
    ],
)
def test_every_check_of_five_brokers_can_fail(setting, step, figures, failing):
    networks = NETWORKS | {setting: changed(NETWORKS[setting], step, **figures)}
    assert failing in found(TABLES.values(), networks.values())


def test_nothing_has_no_checks():
    assert curves([]) == ([], [])
    assert checks([], []) == []
