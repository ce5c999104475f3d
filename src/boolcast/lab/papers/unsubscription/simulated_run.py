"""One run of P4-X1's load in virtual time, and its figures."""

from collections import Counter
from collections.abc import Callable, Iterator
from heapq import merge
from time import process_time
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from boolcast.lab.papers.unsubscription.deliveries import Deliveries, DeliveryFigures
from boolcast.lab.papers.unsubscription.workload import Groups, Load
from boolcast.model.identifiers import BrokerId, PublicationId
from boolcast.routing.protocol.configuration import Configuration, configure
from boolcast.routing.protocol.messages import Publish, Subscribe, Unsubscribe
from boolcast.routing.protocol.stimuli import Received, Request
from boolcast.simulation.judging.metrics import Metrics
from boolcast.simulation.network.broker_process import Job, Step
from boolcast.simulation.network.costs import Costs
from boolcast.simulation.network.observation import Observer
from boolcast.simulation.network.simulator import Simulation
from boolcast.simulation.scenarios.histories import Action

CORE: Final = tuple(BrokerId(name) for name in "ABCDE")
_LOOKS: Final = 1_000
"""How often queues are sampled."""
_POINTS: Final = 100
"""Points of a curve."""
_SPACING: Final = 0.001
"""Seconds between two subscriptions before the clock starts."""
_SET_UP_SHARE: Final = 0.3
"""The approximate share of the work that is done when the clock starts."""
_PATIENCE: Final = 3_600.0
"""Seconds that the network may take to come to rest after the last publication."""


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """The experiment that a run belongs to (`part`), and all that it depends on.

    The policies have the names of `boolcast simulate`.
    """

    part: str
    policy: str
    load: Load
    seed: int
    threshold: float = 0.9
    costs: Costs = Costs()

    @property
    def label(self) -> str:
        """A name that no other run of the reproduction has."""
        load = self.load
        return (
            f"{self.part}-{self.policy}-{load.roots}x{load.degree}-{load.unsubscriptions}"
            f"-{load.placement}-{self.threshold:g}"
        )

    @property
    def work(self) -> float:
        """Roughly how long it takes, compared with others."""
        return self.load.subscriptions + self.load.publications

    @property
    def configuration(self) -> Configuration:
        """Ghosts stay, as in the paper, and the whole history counts."""
        return configure(
            {
                "preset": self.policy,
                "unsubscription.threshold": self.threshold,
                "unsubscription.collects_ghosts": False,
                "unsubscription.window_seconds": max(600.0, self.load.seconds),
            }
        )


class CoreFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One of the brokers A to E. Tables are sizes; the last three fields count handled messages.

    They include subscriptions and unsubscriptions from before the clock started.
    """

    broker: str
    triggered: int
    table_before: int
    table_after: int
    peak_queue: int
    subscriptions: int
    unsubscriptions: int
    publications: int


class Curve(msgspec.Struct, frozen=True):
    """Over virtual time: the mean delay of events published then, and the longest queue of A to E.

    Seconds count from the first removal. The delay is None if nothing was published.
    """

    seconds: list[float]
    delay: list[float | None]
    queue: list[int]


class RunFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of a run; delays are of deliveries, in seconds.

    `delay_after` covers events published after the first removal; `peak_delay` is the greatest in
    a point of the curve. The last control message arrived `calm_seconds` after the first removal.
    `attracted` events were published in the second half of that time for groups whose root is
    gone; `wasted_share` of them crossed a link in vain. `inner_triggered` is the mean over the
    inner brokers other than A to E.
    """

    setting: Setting
    deliveries: DeliveryFigures
    is_at_rest: bool
    delay_before: float
    delay_after: float
    peak_delay: float
    calm_seconds: float
    core: list[CoreFigures]
    inner_triggered: float
    triggered: int
    attracted: int
    wasted_share: float
    wasted_hops: int
    curve: Curve
    messages: int
    set_up_processor_seconds: float
    processor_seconds: float

    @property
    def peak_queue(self) -> int:
        """The longest queue of A to E among a thousand samples."""
        return max(each.peak_queue for each in self.core)

    @property
    def mean_table(self) -> float:
        """The mean size of the final tables of A to E."""
        return sum(each.table_after for each in self.core) / len(self.core)


class _Work(Observer):
    """Counts the messages that each broker has handled."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[BrokerId, type]] = Counter()

    def steps(self, time: float, broker: BrokerId, job: Job, step: Step) -> None:  # noqa: ARG002
        if type(job) is Received:
            self.counts[broker, type(job.message)] += 1


class _Looks:
    """Samples the brokers, and notes when control messages were still on their way."""

    def __init__(self, simulation: Simulation, metrics: Metrics, start: float) -> None:
        self._simulation = simulation
        self._metrics = metrics
        self.start = start
        """When the first root is removed."""
        self.calm_at = start
        """When the last sample saw a control message on its way."""

    def watch(self, every: float, until: float) -> None:
        """Look now and every `every` seconds."""
        self._simulation.timeline.repeat(every, until, self.look)

    def look(self) -> None:
        self._metrics.look(self._simulation)
        if self._simulation.in_flight()[0]:
            self.calm_at = self._simulation.now


def run(setting: Setting, tell: Callable[[float], None] = lambda share: None) -> RunFigures:
    """Carry out a run; `tell` gets the finished share."""
    load = setting.load
    groups = Groups(load, setting.seed)
    metrics, work = Metrics(groups.topology), _Work()
    deliveries = Deliveries(groups, setting.seed)
    simulation = Simulation(
        groups.topology,
        setting.configuration,
        seed=setting.seed,
        costs=setting.costs,
        observers=[deliveries, metrics, work],
        is_direct=True,
    )
    begun = process_time()
    is_at_rest = simulation.set_up(_beginning(groups, tell), spacing=_SPACING)
    set_up = process_time() - begun
    first, last = simulation.now, simulation.now + load.seconds
    looks = _Looks(simulation, metrics, first + load.warm_up_seconds)
    looks.watch(load.seconds / _LOOKS, last)
    _play(simulation, groups)
    for look in range(1, _LOOKS + 1):
        simulation.timeline.run(first + load.seconds * look / _LOOKS)
        tell(_SET_UP_SHARE + (1 - _SET_UP_SHARE) * look / _LOOKS)
    is_at_rest = simulation.settle(_PATIENCE) and is_at_rest
    looks.look()

    seen = metrics.tables()
    tables, queues, triggered = (
        _by_broker(seen["brokers"], name) for name in ("subscriptions", "queue", "triggered")
    )
    new = {name: int(column[-1] - column[0]) for name, column in triggered.items()}
    inner = [name for name in new if name not in CORE and "." not in name]
    delays = seen["delays"]["seconds"].to_numpy()
    times = seen["delays"]["time"].to_numpy() - delays - looks.start  # of publication
    seconds = _by_broker(seen["brokers"], "time")[CORE[0]] - looks.start
    curve = _curve(times, delays, seconds, np.max([queues[each] for each in CORE], axis=0))
    wasted = _wasted(metrics, groups)
    return RunFigures(
        setting=setting,
        deliveries=deliveries.figures(),
        is_at_rest=is_at_rest,
        delay_before=float(delays[times < 0].mean()),
        delay_after=float(delays[times >= 0].mean()),
        peak_delay=max(each for each in curve.delay if each is not None),
        calm_seconds=looks.calm_at - looks.start,
        core=[
            CoreFigures(
                broker=name,
                triggered=new[name],
                table_before=int(tables[name][0]),
                table_after=int(tables[name][-1]),
                peak_queue=int(queues[name].max()),
                subscriptions=work.counts[name, Subscribe],
                unsubscriptions=work.counts[name, Unsubscribe],
                publications=work.counts[name, Publish],
            )
            for name in CORE
        ],
        inner_triggered=sum(new[name] for name in inner) / len(inner),
        triggered=sum(new.values()),
        attracted=len(wasted),
        wasted_share=float((wasted > 0).mean()) if len(wasted) else 0.0,
        wasted_hops=int(wasted.sum()),
        curve=curve,
        messages=simulation.messages,
        set_up_processor_seconds=set_up,
        processor_seconds=process_time() - begun,
    )


def _beginning(groups: Groups, tell: Callable[[float], None]) -> Iterator[tuple[BrokerId, Request]]:
    """What clients ask for before the clock starts, with progress."""
    every = max(groups.load.subscriptions // 50, 1)
    for number, request in enumerate(groups.beginning()):
        if number % every == 0:
            tell(_SET_UP_SHARE * number / groups.load.subscriptions)
        yield request


def _play(simulation: Simulation, groups: Groups) -> None:
    """Schedule each action when the one before is done, because there are many."""
    start = simulation.now
    actions = merge(groups.publications(), groups.removals(), key=lambda action: action.at)

    def act(action: Action | None) -> None:
        if action is not None:
            simulation.request(action.broker, action.request)
        following = next(actions, None)
        if following is not None:
            simulation.timeline.at(start + following.at, act, following)

    act(None)


def _by_broker(table: pa.Table, column: str) -> dict[str, NDArray[Any]]:
    """The values of a column at each sample, for each broker."""
    names = table["broker"].combine_chunks().dictionary_encode()
    rows, values = names.indices.to_numpy(), table[column].to_numpy()
    return {name.as_py(): values[rows == at] for at, name in enumerate(names.dictionary)}


def _curve(
    times: NDArray[np.float64],
    delays: NDArray[np.float64],
    looks: NDArray[np.float64],
    queues: NDArray[np.int64],
) -> Curve:
    edges = np.linspace(looks[0], looks[-1], _POINTS + 1)
    counts, _ = np.histogram(times, edges)
    sums, _ = np.histogram(times, edges, weights=delays)
    spans = np.clip(np.searchsorted(edges, looks, side="right") - 1, 0, _POINTS - 1)
    return Curve(
        [round(float(each), 3) for each in edges[:-1]],
        [
            round(float(total / count), 4) if count else None
            for total, count in zip(sums, counts, strict=True)
        ],
        [int(queues[spans == span].max(initial=0)) for span in range(_POINTS)],
    )


def _wasted(metrics: Metrics, groups: Groups) -> NDArray[np.int64]:
    """The wasted hops of each late event for a group whose root is gone."""
    load = groups.load
    late = load.warm_up_seconds + load.seconds_after / 2
    first = round(late * 1_000 / load.interval_ms)
    hops = metrics.wasted_hops()
    numbers = np.arange(first, len(groups.event_groups))
    gone = numbers[groups.event_groups[first:] < load.unsubscriptions]
    return np.array([hops[PublicationId(f"e{number}")] for number in gone.tolist()], np.int64)
