"""Does anything overlap? Violating predicates against disjunctive form and against proofs.

python -m benchmarks.overlap [--advertisements 20000 100000] [--questions 60] [--json]

The book auction, all eight classes of advertisements, subscriptions of each class. Four ways to
find one advertisement that a subscription overlaps with (scenario First), or all (All), and for
the first how brokers go about it:

* `boolean`: an index of the trees (P3-B4);
* `broker`: a few pairs, then that index, and proofs of what it finds;
* `conjunctive`: the same index of all conjunctions of their disjunctive forms, the way before it;
* `pairs`: one after the other by ranges and proofs, as brokers do without an index, nothing
  remembered;
* `proofs`: one after the other by the algebra alone, on fewer questions.

All are asked the same questions in turns, so that a slow moment of the machine hits them alike.
Figures are processor time; the ratios say how many times as long as `boolean` the others take.
`associations` are those counted up for a question, which no machine changes. Pairs prove exactly
and the index may find an overlap too many, so how many questions have an answer is shown as well.
"""

import argparse
import gc
from collections.abc import Callable, Iterator
from itertools import count, islice
from time import process_time
from typing import Final

import msgspec

from boolcast.algebra import overlaps
from boolcast.algebra.normal_forms import to_dnf
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
"""Algebra alone takes so long that of so many questions it gets a few."""


WARM_UP: Final = 100
"""After so many other questions a broker of these sizes has made its index."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One class of subscriptions against so many advertisements; times in milliseconds."""

    advertisements: int
    subscriptions: str
    scenario: str
    questions: int
    answered: dict[str, float]
    milliseconds: dict[str, float]
    ratios: dict[str, float]
    associations: dict[str, float]


class Contest:
    """The advertisements in all forms."""

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
            form = self.broker_analyser.analyse(filter)
            self.broker.add(Entry(str(row), form, row, link=BrokerId("A")))

    def prepare(self, questions: list[Filter], others: list[Filter]) -> None:
        """Make the forms that brokers have anyway; by `others` the broker comes to its index."""
        self.asked = [
            (self.analyser.analyse(each), self.broker_analyser.analyse(each)) for each in questions
        ]
        for each in others:
            self.broker.has_any(self.broker_analyser.analyse(each))

    def first(self) -> dict[str, Ask]:
        """The ways to find one."""
        return {
            "boolean": self.boolean.first,
            "broker": lambda asked: self.broker.has_any(self.broker_analyser.analyse(asked)),
            "conjunctive": self.conjunctive.first,
            "pairs": self._pairs,
            "proofs": lambda asked: any(overlaps(each, asked) for each in self.advertisements),
        }

    def all(self) -> dict[str, Ask]:
        """The ways to find all: proofs of all pairs would take hours."""
        return {
            "boolean": lambda asked: self.boolean.count(asked)[0],
            "conjunctive": lambda asked: self.conjunctive.count(asked)[0],
        }

    def _pairs(self, asked: Filter) -> bool:
        form = self.analyser.analyse(asked)
        return any(self.analyser.overlaps(each, form) for each in self.held)

    def associations(self, questions: list[Filter]) -> dict[str, float]:
        """How many are counted up for a question, on average."""
        return {
            name: sum(index.count(each)[1].associations for each in questions) / len(questions)
            for name, index in (("boolean", self.boolean), ("conjunctive", self.conjunctive))
        }


def timed(
    ways: dict[str, Ask], questions: list[Filter]
) -> tuple[dict[str, float], dict[str, float]]:
    """Milliseconds a question, and the share of questions with an answer, for each way."""
    spent = dict.fromkeys(ways, 0.0)
    answered = dict.fromkeys(ways, 0)
    asked = dict.fromkeys(ways, 0)
    for number, question in enumerate(questions):
        # Who is asked first finds the caches cold: each of them in its turn.
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
            # The first question finds kernels to compile and associations to sort.
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
