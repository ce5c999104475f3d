"""Does anything overlap? The overlap index against disjunctive normal forms and proofs.

python -m benchmarks.overlap [--advertisements 20000 100000] [--questions 60] [--json]

The book auction, all eight classes of advertisements, subscriptions of each class. These find one
advertisement that a subscription overlaps with (scenario First); the two indexes also find all:

* `boolean`: an index of the trees (P3-B4);
* `broker`: a few pairs, then that index, then proofs of what it finds;
* `conjunctive`: the same index over the conjunctions of the disjunctive normal forms;
* `pairs`: one after the other by ranges and proofs, as brokers do without an index, with no cache;
* `proofs`: one after the other by the algebra alone, on fewer questions.

All answer the same questions in turns, so that a slow moment of the machine hits them alike.
Figures are processor time; ratios are relative to `boolean`. `associations` is how many are counted
for a question, which does not depend on the machine. Pairs are exact and the index may find an
overlap too many, so the share of questions with an answer is shown as well.
"""

import argparse
import gc
from collections.abc import Callable, Iterator
from itertools import count, islice
from time import process_time
from typing import Final

import msgspec

from boolcast.algebra.normal_forms import to_dnf
from boolcast.algebra.relations import overlaps
from boolcast.filters.expressions import Filter, conjunction
from boolcast.matching.relations.analysed_filters import FilterAnalyser
from boolcast.matching.relations.overlap_index import OverlapIndex
from boolcast.model.identifiers import BrokerId
from boolcast.routing.tables.entries import Entry
from boolcast.routing.tables.overlaps import ByIndexAndProof, OverlapCounts
from boolcast.workloads import Auction
from boolcast.workloads.classes import PRESETS, SUBSCRIPTION_CLASSES

Ask = Callable[[Filter], object]

FEW: Final = 20
"""Of so many questions, the slow algebra alone gets only a few."""

WARM_UP: Final = 100
"""After this many other questions, a broker of these sizes has built its index."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One class of subscriptions against all advertisements; times in milliseconds."""

    advertisements: int
    subscriptions: str
    scenario: str
    questions: int
    answered: dict[str, float]
    milliseconds: dict[str, float]
    ratios: dict[str, float]
    associations: dict[str, float]


class Contest:
    """The advertisements, prepared for each contestant."""

    def __init__(self, advertisements: list[Filter]) -> None:
        self.advertisements = advertisements
        self.boolean = OverlapIndex()
        self.conjunctive = OverlapIndex()
        for row, filter in enumerate(advertisements):
            self.boolean.add(str(row), filter)
            for number, clause in enumerate(to_dnf(filter).clauses):
                self.conjunctive.add(f"{row}.{number}", conjunction(clause))
        self.analyser = FilterAnalyser()
        self.held = [self.analyser.analyse(filter) for filter in advertisements]
        self.broker_analyser = FilterAnalyser()
        self.broker = ByIndexAndProof(OverlapIndex, self.broker_analyser, OverlapCounts())
        for row, filter in enumerate(advertisements):
            analysed = self.broker_analyser.analyse(filter)
            self.broker.add(Entry(str(row), analysed, row, link=BrokerId("A")))

    def prepare(self, questions: list[Filter], others: list[Filter]) -> None:
        """Analyse the questions, as brokers do anyway, and let `others` make the broker index."""
        self.asked = [
            (self.analyser.analyse(each), self.broker_analyser.analyse(each)) for each in questions
        ]
        for each in others:
            self.broker.has_any(self.broker_analyser.analyse(each))

    def first(self) -> dict[str, Ask]:
        """Those that find one."""
        return {
            "boolean": self.boolean.first,
            "broker": lambda asked: self.broker.has_any(self.broker_analyser.analyse(asked)),
            "conjunctive": self.conjunctive.first,
            "pairs": self._pairs,
            "proofs": lambda asked: any(overlaps(each, asked) for each in self.advertisements),
        }

    def all(self) -> dict[str, Ask]:
        """Those that find all; proving all pairs would take hours."""
        return {
            "boolean": lambda asked: self.boolean.count(asked)[0],
            "conjunctive": lambda asked: self.conjunctive.count(asked)[0],
        }

    def _pairs(self, asked: Filter) -> bool:
        analysed = self.analyser.analyse(asked)
        return any(self.analyser.overlaps(each, analysed) for each in self.held)

    def associations(self, questions: list[Filter]) -> dict[str, float]:
        """How many are counted for a question, on average."""
        return {
            name: sum(index.count(each)[1].associations for each in questions) / len(questions)
            for name, index in (("boolean", self.boolean), ("conjunctive", self.conjunctive))
        }


def timed(
    ways: dict[str, Ask], questions: list[Filter]
) -> tuple[dict[str, float], dict[str, float]]:
    """Milliseconds per question, and the share of questions with an answer, for each."""
    spent = dict.fromkeys(ways, 0.0)
    answered = dict.fromkeys(ways, 0)
    asked = dict.fromkeys(ways, 0)
    for number, question in enumerate(questions):
        # The first one finds cold caches, so they take turns.
        turn = number % len(ways)
        for name in (*list(ways)[turn:], *list(ways)[:turn]):
            if name == "proofs" and number % FEW >= len(ways):
                continue
            begun = process_time()
            answer = ways[name](question)
            spent[name] += process_time() - begun
            answered[name] += bool(answer)
            asked[name] += 1
    return (
        {name: 1_000 * spent[name] / asked[name] for name in ways},
        {name: answered[name] / asked[name] for name in ways},
    )


def rows_of(advertisements: int, questions: int) -> list[Row]:
    auction = Auction(PRESETS["P3"], seed=1)
    contest = Contest(list(auction.advertisement_filters(0, advertisements)))
    rows = []
    for kind in SUBSCRIPTION_CLASSES:
        drawn = _of_class(auction, kind)
        chosen = list(islice(drawn, questions + 1))
        contest.prepare(chosen, list(islice(drawn, WARM_UP)))
        for scenario, ways in (("first", contest.first()), ("all", contest.all())):
            # The first question compiles kernels and sorts associations.
            for name, ask in ways.items():
                if name != "proofs":
                    ask(chosen[0])
            milliseconds, answered = timed(ways, chosen[1:])
            rows.append(
                Row(
                    advertisements=advertisements,
                    subscriptions=kind,
                    scenario=scenario,
                    questions=questions,
                    answered=answered,
                    milliseconds=milliseconds,
                    ratios={n: ms / milliseconds["boolean"] for n, ms in milliseconds.items()},
                    associations=contest.associations(chosen[1:20]),
                )
            )
    return rows


def _of_class(auction: Auction, kind: str) -> Iterator[Filter]:
    return (auction.subscription(row) for row in count() if auction.subscription_class(row) == kind)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--advertisements", type=int, nargs="+", default=[20_000, 100_000])
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    gc.disable()
    for advertisements in options.advertisements:
        for row in rows_of(advertisements, options.questions):
            if options.json:
                print(msgspec.json.encode(row).decode())
                continue
            ratios = "  ".join(
                f"{name} {row.milliseconds[name]:,.2f} ms (×{ratio:,.1f})"
                for name, ratio in row.ratios.items()
            )
            work = " : ".join(f"{each:,.0f}" for each in row.associations.values())
            print(
                f"{advertisements:>7,} {row.subscriptions} {row.scenario:<5}  {ratios};"
                f" associations {work}; answered {row.answered['boolean']:.2f}"
            )


if __name__ == "__main__":
    main()
