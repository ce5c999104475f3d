"""The experiments of P4 on unsubscription: their load, their checker, and a small run."""

import os
import signal
from collections import Counter

import numpy as np
import pytest

from boolcast.errors import WorkerError
from boolcast.lab.papers import runs
from boolcast.lab.papers.runs import in_processes, reproduce, settings_of
from boolcast.lab.papers.unsubscription.checks import checks
from boolcast.lab.papers.unsubscription.deliveries import Deliveries
from boolcast.lab.papers.unsubscription.run import EXPERIMENTS, FIGURES
from boolcast.lab.papers.unsubscription.simulated_run import Setting, run
from boolcast.lab.papers.unsubscription.workload import Groups, Load
from boolcast.matching.relations.analysed_filters import FilterAnalyser
from boolcast.matching.relations.covering_index import ByProofs
from boolcast.model.events import Event
from boolcast.model.identifiers import ClientId, PublicationId
from boolcast.routing.core.broker import Broker
from boolcast.routing.protocol.effects import Deliver, Effect
from boolcast.routing.protocol.stimuli import Stimulus
from boolcast.routing.tables.covering_graph import RelationGraph
from boolcast.simulation.scenarios.groups import RANGE

SMALL = Load(
    roots=4, degree=80, unsubscriptions=2, warm_up_seconds=8.0, seconds_after=8.0, interval_ms=20.0
)
TINY = Load(
    roots=2, degree=80, unsubscriptions=1, warm_up_seconds=2.0, seconds_after=2.0, interval_ms=40.0
)
SETTING = Setting(part="x3", policy="active", load=TINY, seed=1)


def die(run: object, setting: Setting, results: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_a_run_whose_process_dies_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(runs, "run_in_process", die)
    with pytest.raises(WorkerError, match=r"x3-active.* ended with -9"):
        reproduce([SETTING], in_processes(run, None), FIGURES, tmp_path)


def test_the_network_is_the_papers():
    groups = Groups(SMALL, seed=1)
    inner = [name for name in groups.topology.brokers if len(name) == 2]
    assert len(groups.topology.brokers) == 49
    assert len(inner) == 12
    assert len(groups.subscribing) + len(groups.publishing) == 32
    assert set(groups.brokers) <= set(groups.subscribing)


@pytest.mark.parametrize(("degree", "matching"), [(80, 42.0), (131, 42.0), (30, 10.0)])
def test_as_many_children_as_said_accept_an_event(degree, matching):
    load = Load(roots=6, degree=degree, matching=matching, warm_up_seconds=1, seconds_after=1)
    groups = Groups(load, seed=3)
    counts = [
        sum(
            groups.filter_of(number).accepts(Event(group=group, x=value))
            for number in range(load.roots, load.subscriptions)
        )
        for group in range(load.roots)
        for value in range(0, RANGE, RANGE // 10)
    ]
    assert np.mean(counts) == pytest.approx(matching, rel=0.1)


def test_the_covering_degree_is_that_of_the_load():
    groups = Groups(SMALL, seed=2)
    analyser = FilterAnalyser()
    graph = RelationGraph(ByProofs(analyser), adopts_roots=True)
    for number in groups.order:
        graph.insert(str(number), analyser.analyse(groups.filter_of(number)))
    assert sorted(graph.forwarded()) == ["0", "1", "2", "3"]
    new_roots = [len(graph.remove(str(number)).forward) for number in range(4)]
    assert new_roots == [80] * 4


def test_half_of_the_children_come_before_their_root():
    groups = Groups(Load(roots=38, degree=100, warm_up_seconds=1, seconds_after=1), seed=4)
    place = {number: place for place, number in enumerate(groups.order)}
    children = range(38, groups.load.subscriptions)
    early = sum(place[number] < place[groups.group_of(number)] for number in children)
    assert 0.4 < early / len(children) < 0.6


def test_clusters_are_two_to_four_brokers():
    load = Load(roots=20, degree=60, placement="clustered", warm_up_seconds=1, seconds_after=1)
    groups = Groups(load, seed=5)
    order = {name: place for place, name in enumerate(groups.subscribing)}
    for group in range(load.roots):
        places = {
            order[groups.brokers[number]] for number in range(group, load.subscriptions, load.roots)
        }
        assert 2 <= len(places) <= 4
        assert max(places) - min(places) <= 3


def delivered(groups: Groups, deliveries: Deliveries, event: Event, numbers: list[int]) -> None:
    publication = PublicationId(f"p{len(numbers)}")
    deliveries.publishes(0.0, groups.publishing[0], ClientId("publisher"), publication, event)
    for number in numbers:
        deliveries.delivers(
            1.0, groups.brokers[number], ClientId(f"c{number}"), publication, event, (str(number),)
        )


def test_deliveries_are_due_to_whom_the_reference_evaluator_says():
    groups = Groups(SMALL, seed=6)
    deliveries = Deliveries(groups, seed=6)
    event = Event(group=3, x=400_000)
    wanting = [
        number for number in range(SMALL.subscriptions) if groups.filter_of(number).accepts(event)
    ]
    delivered(groups, deliveries, event, wanting)
    found = deliveries.figures()
    assert (found.due, found.came) == (len(wanting), len(wanting))
    assert not found.missing
    assert not found.wrong


@pytest.mark.parametrize("fault", ["missing", "repeated", "unwanted", "swapped", "after its end"])
def test_a_fault_of_delivery_is_found(fault):
    groups = Groups(SMALL, seed=6)
    deliveries = Deliveries(groups, seed=6)
    event = Event(group=1, x=400_000)
    wanting: list[int] = []
    others: list[int] = []
    for number in range(SMALL.subscriptions):
        is_wanting = groups.filter_of(number).accepts(event)
        (wanting if is_wanting else others).append(number)
    children = wanting[1:]
    match fault:
        case "missing":
            children = children[1:]
        case "repeated":
            children += children[:1]
        case "unwanted":
            children += others[:1]
        case "swapped":
            children = [children[1], *children[1:]]
        case "after its end":
            deliveries.confirms(0.5, groups.brokers[1], ClientId("c1"), "1")
            children += [1]
    delivered(groups, deliveries, event, children)
    found = deliveries.figures()
    assert bool(found.missing) == (fault in {"missing", "swapped"})
    assert bool(found.wrong) == (fault != "missing")


@pytest.mark.slow
@pytest.mark.parametrize("fault", [None, "withheld", "out of order"])
def test_roots_that_go_get_all_until_then_and_in_order(fault, monkeypatch):
    handle = Broker.handle
    late: list[Deliver] = []
    swapped: list[Deliver] = []

    def is_by_same(one: Deliver, other: Deliver) -> bool:
        return (int(one.publication[1:]) - int(other.publication[1:])) % 3 == 0

    def broken(self: Broker, stimulus: Stimulus, *, now: float) -> list[Effect]:
        found: list[Effect] = []
        for each in handle(self, stimulus, now=now):
            if not isinstance(each, Deliver) or fault is None:
                found.append(each)
            elif fault == "withheld":
                found += [] if each.subscriptions == ("0",) else [each]
            elif not late:
                late.append(each)
            elif each.client == late[0].client and is_by_same(each, late[0]) and not swapped:
                swapped.append(each)
                found += [each, late[0]]
            else:
                found.append(each)
        return found

    monkeypatch.setattr(Broker, "handle", broken)
    found = run(Setting(part="x3", policy="active", load=TINY, seed=1)).deliveries
    assert bool(found.missing) == (fault == "withheld")
    assert bool(found.wrong) == (fault == "out of order")


@pytest.mark.parametrize("part", EXPERIMENTS)
def test_no_experiment_is_smaller_than_ratios_need(part):
    chosen = settings_of(EXPERIMENTS, [part], scale=1.0, seed=1)
    assert all(each.load.subscriptions >= 5_000 for each in chosen)
    assert part == "x9" or all(each.load.degree >= 80 for each in chosen)
    assert len({each.label for each in chosen}) == len(chosen)


def test_the_main_comparison_has_the_papers_size():
    chosen = settings_of(EXPERIMENTS, ["x3"], scale=1.0, seed=1)
    assert [each.policy for each in chosen] == ["active", "lazy", "packing", "incremental"]
    for each in chosen:
        load = each.load
        assert (load.roots, load.degree, load.unsubscriptions) == (38, 2_100, 20)
        assert load.subscriptions == 79_838
        assert (load.interval_ms, load.unsubscription_seconds, each.threshold) == (10.0, 10.0, 0.9)
        assert not each.configuration.policies.unsubscription.collects_ghosts


@pytest.mark.slow
def test_a_run_that_is_in_the_folder_is_not_run_again(tmp_path):
    told: list[float] = []
    (first,) = reproduce(
        [SETTING], in_processes(run, 1), FIGURES, tmp_path, lambda share, text: told.append(share)
    )
    assert told == sorted(told)
    assert len(told) > 50
    (again,) = reproduce([SETTING], in_processes(run, 1), FIGURES, tmp_path)
    assert again.processor_seconds == first.processor_seconds


@pytest.mark.slow
def test_incremental_removal_spares_the_core():
    """A small main comparison: the orders hold, whatever the ratios are at this size."""
    found = {
        policy: run(Setting(part="x3", policy=policy, load=SMALL, seed=1))
        for policy in ("active", "lazy", "packing", "incremental")
    }
    for each in found.values():
        assert each.is_at_rest
        assert (each.deliveries.missing, each.deliveries.wrong) == (0, 0)
    due = {each.deliveries.due for each in found.values()}
    assert len(due) == 1
    active, incremental = found["active"], found["incremental"]
    assert incremental.triggered < 0.3 * active.triggered
    assert incremental.peak_queue < active.peak_queue
    assert incremental.delay_after < active.delay_after
    assert incremental.mean_table <= active.mean_table <= 1.02 * found["lazy"].mean_table
    told = [each.triggered for each in active.core]
    assert told == sorted(told)

    made = checks(list(found.values()))
    assert Counter(check.number for check in made) == {1: 1, 2: 3, 3: 2, 4: 2, 5: 1}
    assert made[0].holds
