"""What can be proven of filters: covering, overlap, equivalence, simpler forms.

A predicate is a set of values (`value_sets`, over `cuts`, the one order of all values). A
filter, or the statement that it does not accept, is a formula over such sets (`formulas`),
and every proof is a search for an event that makes a formula true (`satisfaction`), in the
worlds that a schema admits (`domains`). `strings` decides about patterns by automata,
`members` picks readable values for witnesses. On top of it: `relations` (covers, overlaps,
…; `conjunctions` is their fast path), `simplification`, `linting`, `normal_forms`, and
`normalisation` (P5-B1). Everything that may be exponential spends a `budget`, and its
result says so when that ran out.
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
