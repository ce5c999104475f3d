"""What can be proven about filters: covering, overlap, equivalence, redundancy.

A question becomes a search. `covers(general, specific)` asks for an event that `specific`
accepts and `general` refuses: if there is none, it covers. Three steps lead to the answer:

1. Each predicate becomes a set of values of one attribute (`value_sets`). All values lie in one
   order, missing first, so most sets are rows of boundaries (`ordered_sets`). String patterns
   are decided by automata (`strings`).
2. Each filter becomes a formula over such sets, and the search narrows the sets until an event
   is left or none can be (`satisfaction`).
3. The event found is the witness in the verdict (`relations`). Simplification and linting ask
   the same question about a filter with and without one of its children (`simplification`).

The search is exponential at worst, so it spends a `budget`. Past it the answer is the safe one:
not covered, may overlap. It may cost traffic, never a delivery, and the result says
`exhausted`. The same holds for predicates that the algebra cannot see into, such as `matches`.

`normal_forms` and `normalisation` (P5-B1) rewrite filters without a search, or nearly so.
"""

from boolcast.algebra.budget import DEFAULT_BUDGET, SIMPLIFY_BUDGET
from boolcast.algebra.normal_forms import NormalForm, to_cnf, to_dnf
from boolcast.algebra.normalisation import normalise_conjunction
from boolcast.algebra.relations import Verdict, covers, disjoint, equivalent, overlaps, relate
from boolcast.algebra.simplification import Finding, Lint, Simplified, lint, simplify

__all__ = [
    "DEFAULT_BUDGET",
    "SIMPLIFY_BUDGET",
    "Finding",
    "Lint",
    "NormalForm",
    "Simplified",
    "Verdict",
    "covers",
    "disjoint",
    "equivalent",
    "lint",
    "normalise_conjunction",
    "overlaps",
    "relate",
    "simplify",
    "to_cnf",
    "to_dnf",
]
