"""What inserting subscriptions one by one takes, each with its covering test (P2-X4).

The paper's algorithm evaluates all diagrams in one pass or two, and finds which predicates imply
each other by comparing them or by a cache; ours searches from what the new filter bears on, and
finds them by ranges. All of them leave the same table.
"""

from hashlib import blake2b
from itertools import islice
from time import process_time
from typing import Final

import msgspec

from boolcast.experiments.mbd_tables import LEARNT, SetName, filters_of, pairs_of
from boolcast.matching.diagram_covering import Method
from boolcast.matching.diagrams import Diagrams
from boolcast.matching.implications import Way
from boolcast.optimising.attribute_order import AttributeOrder

_STEPS: Final = 20


class InsertionSetting(msgspec.Struct, frozen=True, kw_only=True, tag="insertion"):
    """Subscriptions of a set; how diagrams are evaluated, and how implications are found."""

    set: SetName
    subscriptions: int
    seed: int
    method: Method
    way: Way

    @property
    def label(self) -> str:
        """A name of its own for each run of a reproduction."""
        method = self.method.replace(" ", "-")
        return f"insertion-{self.set}-{method}-{self.way}-{self.subscriptions}-{self.seed}"

    @property
    def work(self) -> float:
        """About how long it takes, in subscriptions."""
        return self.subscriptions * (1.0 if self.method == "search" else 10.0)


class InsertionPoint(msgspec.Struct, frozen=True, kw_only=True):
    """After so many subscriptions; for one of the last step on average, what it took.

    The phases are finding implications, and evaluating diagrams; putting it in is in neither.
    """

    subscriptions: int
    entries: int
    variables: int
    predicate_microseconds: float
    diagram_microseconds: float
    insertion_microseconds: float
    evaluated: float


class InsertionFigures(msgspec.Struct, frozen=True, kw_only=True, tag="insertion"):
    """The course of it; `evaluated` diagrams in all, and a checksum of what is left."""

    setting: InsertionSetting
    points: list[InsertionPoint]
    evaluated: int
    outcome: str


def insertion_figures(setting: InsertionSetting) -> InsertionFigures:
    """Run one: what is covered is left out, what a new subscription covers goes."""
    pairs = pairs_of(setting.set, setting.subscriptions, setting.seed)
    filters = filters_of(pairs, setting.subscriptions)
    order = AttributeOrder.of(islice(filters.values(), LEARNT)).names
    diagrams = Diagrams(order, schema=pairs.schema, way=setting.way)
    points: list[InsertionPoint] = []
    step = max(setting.subscriptions // _STEPS, 1)
    evaluated = before = 0
    asking = answering = inserting = 0.0
    for number, (name, filter) in enumerate(filters.items(), 1):
        start = process_time()
        question = diagrams.question(filter)
        asked = process_time()
        covering = diagrams.covering(question, setting.method)
        answered = process_time()
        evaluated += covering.diagrams
        if not covering.covered_by:
            for each in covering.covers:
                diagrams.remove(each)
            diagrams.add(name, filter)
        asking += asked - start
        answering += answered - asked
        inserting += process_time() - answered
        if number % step == 0:
            points.append(
                InsertionPoint(
                    subscriptions=number,
                    entries=len(diagrams),
                    variables=len(diagrams.variables),
                    predicate_microseconds=asking / step * 1e6,
                    diagram_microseconds=answering / step * 1e6,
                    insertion_microseconds=inserting / step * 1e6,
                    evaluated=(evaluated - before) / step,
                )
            )
            before, asking, answering, inserting = evaluated, 0.0, 0.0, 0.0
    left = blake2b(digest_size=8)
    for name in filters:
        left.update(b"\1" if name in diagrams else b"\0")
    return InsertionFigures(
        setting=setting, points=points, evaluated=evaluated, outcome=left.hexdigest()
    )
