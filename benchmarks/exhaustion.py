"""How often proofs about random pairs of filters run out of budget, by operator.

python -m benchmarks.exhaustion [--pairs 10000] [--leaves 12] [--budget STEPS]
"""

import argparse
from collections import Counter

from boolcast.algebra import DEFAULT_BUDGET, covers, overlaps
from boolcast.filters.expressions import Comparison, Leaf, StringTest
from tests.algebra.pairs import pairs


def name_of(leaf: Leaf) -> str:
    if isinstance(leaf, Comparison):
        return leaf.operator
    return leaf.function if isinstance(leaf, StringTest) else type(leaf).__name__


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--leaves", type=int, default=12)
    parser.add_argument("--budget", type=int, default=DEFAULT_BUDGET)
    options = parser.parse_args()
    asked: Counter[str] = Counter()
    exhausted: Counter[str] = Counter()
    for left, right in pairs(options.pairs, leaves=options.leaves):
        names = {name_of(leaf) for node in (left, right) for leaf in node.predicates()}
        for question in (covers, overlaps):
            verdict = question(left, right, budget=options.budget)
            for name in ("any", *names):
                asked[name] += 1
                exhausted[name] += verdict.exhausted
    print(f"{'operator':<22}{'questions':>10}{'exhausted':>11}{'share':>9}")
    for name, count in asked.most_common():
        print(f"{name:<22}{count:>10,}{exhausted[name]:>11,}{exhausted[name] / count:>9.3%}")


if __name__ == "__main__":
    main()
