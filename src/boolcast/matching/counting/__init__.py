"""P1's engine: count satisfied predicates, then evaluate few trees.

`forests` numbers the distinct predicates of all filters. `predicate_indexes` finds the predicates
that an event satisfies, by ranks where a predicate is a set of intervals. Each adds to the hits of
the filters it occurs in. Only a filter with at least as many hits as its tree needs true leaves
is a candidate, and its tree is evaluated. `selectivity_counters` counts, on the way, how many
events satisfied each predicate.

`forests` and `growable_array` also serve the other indexes that count or grow.
"""
