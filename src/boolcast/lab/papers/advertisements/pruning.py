"""Prune advertisements, alone or after subscriptions: memory, overlaps, work (P3-X4, P3-X5).

Subscriptions are registered, and some of their prunings are done first if the setting says so.
Separate events give the match counts of their predicates, and ranks stay as they are at the
beginning (P3-B8, P3-E14). Then the advertisements are pruned in equal steps to exhaustion. At each
step, a sample of them is looked up in the index of subscriptions. Filters that were looked up
before keep their answers.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice
from time import process_time
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from boolcast.filters.expressions import Comparison, Filter, Predicate
from boolcast.lab.papers.selectivities import learnt_selectivities
from boolcast.matching.relations.overlap_index import OverlapIndex, OverlapWork
from boolcast.model.identifiers import AdvertisementId, SubscriptionId
from boolcast.optimising.pruning.overlap_ranks import OverlapRanks
from boolcast.optimising.pruning.queues import AdvertisementQueue, SelectivityQueue
from boolcast.optimising.pruning.stopping import Operations
from boolcast.optimising.pruning.trees import Tree, best_pruning, prepared, pruned
from boolcast.optimising.statistics.selectivities import Selectivities
from boolcast.workloads import PRESETS, Auction
from boolcast.workloads.classes import ADVERTISEMENT_CLASSES, PRUNINGS, AdvertisementClass

MIX: Final = "A1-8"
"""All classes of advertisements together."""

KINDS: Final[Mapping[str, tuple[AdvertisementClass, ...]]] = {
    **{kind: (kind,) for kind in ADVERTISEMENT_CLASSES},
    MIX: ADVERTISEMENT_CLASSES,
}

_LEAST: Final = 1e-9
"""If all overlap from the beginning, there is nothing to lose."""

_TRAINING_ROW: Final = 1_000_000
_TRAINING_EVENTS: Final = 20_000
_ORDERS: Final = 500
"""The number of advertisements whose order of prunings is reported."""


class PruningSetting(msgspec.Struct, frozen=True, kw_only=True, tag="pruning"):
    """The experiment that a run belongs to, and all that it depends on.

    `subscription_pruning` is the share of the subscriptions' prunings that are done first.
    """

    part: str
    kind: str
    subscriptions: int
    advertisements: int
    samples: int
    steps: int
    seed: int
    subscription_pruning: float = 0.0

    @property
    def label(self) -> str:
        """A name that no other run of the reproduction has."""
        return (
            f"{self.part}-{self.kind}-{self.subscription_pruning:g}-{self.subscriptions}"
            f"x{self.advertisements}-{self.samples}-{self.steps}-{self.seed}"
        )

    @property
    def work(self) -> float:
        """Roughly how long it takes, in advertisements of `OverlapSetting`."""
        pruned = self.subscriptions * self.subscription_pruning
        return (self.subscriptions + 5 * pruned + 3 * self.advertisements + 2 * self.samples) / 2


class AdvertisementPoint(msgspec.Struct, frozen=True, kw_only=True):
    """The advertisements after some prunings, and the lookups of their sample.

    `overlapping` and `candidates` are per subscription. Work counts incremented counters and
    evaluated leaves for one advertisement, in the scenarios All and First; milliseconds likewise.
    """

    operations: int
    predicates: int
    overlapping: float
    candidates: float
    all_work: float
    first_work: float
    all_milliseconds: float
    first_milliseconds: float


class PruningFigures(msgspec.Struct, frozen=True, kw_only=True, tag="pruning"):
    """The figures of a run, from whole advertisements to exhausted ones.

    `subscription_predicates` counts predicates before and after subscriptions were pruned.
    `orders` counts advertisements by the order in which their predicates are pruned.
    """

    setting: PruningSetting
    subscription_predicates: tuple[int, int]
    points: list[AdvertisementPoint]
    orders: dict[str, int]
    processor_seconds: float

    def proportion(self, point: AdvertisementPoint) -> float:
        """The share of all possible prunings that are done: the abscissa of the paper's figures."""
        return point.operations / max(self.points[-1].operations, 1)

    def memory(self, point: AdvertisementPoint) -> float:
        """The share of the associations that is gone."""
        return 1 - point.predicates / self.points[0].predicates

    def rise(self, point: AdvertisementPoint) -> float:
        """The share of all subscriptions that overlap only because of pruning."""
        return point.overlapping - self.points[0].overlapping

    @property
    def cut_off(self) -> AdvertisementPoint:
        """The point of the greatest gain: the share of prunings done, less the loss.

        The loss is the share that overlap now among the subscriptions that did not overlap with
        whole advertisements. A class whose overlaps hardly rise has its cut-off at the end
        (decision 42).
        """
        others = max(1 - self.points[0].overlapping, _LEAST)
        return max(self.points, key=lambda each: self.proportion(each) - self.rise(each) / others)

    def memory_at(self, proportion: float) -> float:
        """The share of the associations that is gone after this share of the prunings."""
        for before, after in zip(self.points, self.points[1:], strict=False):
            left, right = self.proportion(before), self.proportion(after)
            if left <= proportion <= right and left < right:
                part = (proportion - left) / (right - left)
                return self.memory(before) + part * (self.memory(after) - self.memory(before))
        return self.memory(self.points[-1])


class _Basis(NamedTuple):
    """What all runs of one size start from."""

    filters: dict[SubscriptionId, Filter]
    prunings: int
    selectivities: Selectivities


class _Answer(NamedTuple):
    found: int
    all_work: OverlapWork
    all_seconds: float
    first_work: OverlapWork
    first_seconds: float


def pruning_figures(setting: PruningSetting) -> PruningFigures:
    """Prune the advertisements of one setting, and measure at each step."""
    begun = process_time()
    basis = _basis(setting.subscriptions, setting.seed)
    whole = sum(_leaves(filter) for filter in basis.filters.values())
    index = OverlapIndex()
    for name, filter in _pruned_subscriptions(basis, setting.subscription_pruning).items():
        index.add(name, filter)
    ranks = OverlapRanks(index, basis.selectivities)
    auction = Auction(
        replace(PRESETS["P3"], advertisement_classes=KINDS[setting.kind]), seed=setting.seed
    )
    queue = AdvertisementQueue(ranks)
    filters = list(auction.advertisement_filters(0, setting.advertisements))
    for row, filter in enumerate(filters):
        queue.add(AdvertisementId(f"a{row}"), filter)
    classes = auction.advertisements(0, setting.advertisements)["class"].to_pylist()
    return PruningFigures(
        setting=setting,
        subscription_predicates=(whole, int(index.occurrences.sum())),
        points=_points(queue, index, setting, sum(PRUNINGS[kind] for kind in classes)),
        orders=dict(Counter(_order(each, ranks) for each in filters[:_ORDERS]).most_common()),
        processor_seconds=process_time() - begun,
    )


@lru_cache(maxsize=1)
def _basis(subscriptions: int, seed: int) -> _Basis:
    """Cached for the next run in this process: all runs of a reproduction share it."""
    auction = Auction(PRESETS["P3"], seed=seed)
    rows = enumerate(auction.subscription_filters(0, subscriptions))
    filters = {SubscriptionId(f"s{row}"): filter for row, filter in rows}
    classes = auction.subscriptions(0, subscriptions)["class"].to_pylist()
    events = auction.events(_TRAINING_ROW, _TRAINING_EVENTS)
    prunings = sum(PRUNINGS[kind] for kind in classes)
    return _Basis(filters, prunings, learnt_selectivities(filters.values(), [events]))


def _pruned_subscriptions(basis: _Basis, share: float) -> Mapping[SubscriptionId, Filter]:
    if not share:
        return basis.filters
    queue = SelectivityQueue(basis.selectivities)
    for name, filter in basis.filters.items():
        queue.add(name, filter)
    rules = () if share >= 1 else (Operations(round(share * basis.prunings)),)
    return basis.filters | queue.prune(*rules).changed


def _points(
    queue: AdvertisementQueue, index: OverlapIndex, setting: PruningSetting, total: int
) -> list[AdvertisementPoint]:
    sample = {name: queue.filter_of(name) for name in islice(queue, setting.samples)}
    known: dict[Filter, _Answer] = {}
    # The first lookup compiles kernels and sorts associations.
    _ask(index, next(iter(sample.values())))
    done = 0
    points = [_point(done, queue, index, sample, known)]
    for step in range(1, setting.steps + 1):
        # The last step has no goal: in a few filters alternatives become equal, which leaves less
        # to prune than W4 says.
        goal = round(total * step / setting.steps)
        run = queue.prune(*([Operations(goal - done)] if step < setting.steps else []))
        done += run.after.operations
        sample.update((name, each) for name, each in run.changed.items() if name in sample)
        points.append(_point(done, queue, index, sample, known))
    return points


def _point(
    operations: int,
    queue: AdvertisementQueue,
    index: OverlapIndex,
    sample: Mapping[AdvertisementId, Filter],
    known: dict[Filter, _Answer],
) -> AdvertisementPoint:
    answers: list[_Answer] = []
    for filter in sample.values():
        if filter not in known:
            known[filter] = _ask(index, filter)
        answers.append(known[filter])
    count = len(answers)
    return AdvertisementPoint(
        operations=operations,
        predicates=queue.standing().predicates,
        overlapping=sum(each.found for each in answers) / count / len(index),
        candidates=sum(each.all_work.candidates for each in answers) / count / len(index),
        all_work=_mean_work([each.all_work for each in answers]),
        first_work=_mean_work([each.first_work for each in answers]),
        all_milliseconds=1_000 * sum(each.all_seconds for each in answers) / count,
        first_milliseconds=1_000 * sum(each.first_seconds for each in answers) / count,
    )


def _ask(index: OverlapIndex, filter: Filter) -> _Answer:
    begun = process_time()
    found, work = index.count(filter)
    between = process_time()
    first = index.first(filter)
    return _Answer(found, work, between - begun, first.work, process_time() - between)


def _mean_work(works: Sequence[OverlapWork]) -> float:
    return sum(each.associations + each.leaves for each in works) / len(works)


def _leaves(filter: Filter) -> int:
    return sum(1 for _ in filter.predicates())


def _order(filter: Filter, ranks: OverlapRanks) -> str:
    """The predicates pruned from an advertisement, in order; the queue does not change it."""
    tree = Tree.of(prepared(filter), ranks)
    names: list[str] = []
    while (pruning := best_pruning(tree)) is not None:
        shorter = pruned(tree, pruning)
        gone = Counter(tree.node.predicates())
        gone.subtract(Counter(shorter.node.predicates()))
        names.append("+".join(sorted(map(_named, gone.elements()))))
        tree = shorter
    return ", ".join(names)


def _named(leaf: Predicate) -> str:
    """The attribute, with its value if it has only two."""
    assert isinstance(leaf, Comparison)
    few = leaf.attribute in {"condition", "format"}
    return f"{leaf.attribute} {leaf.value}" if few else leaf.attribute
