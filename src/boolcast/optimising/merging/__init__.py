"""One entry in place of several that came from the same neighbour.

A merger covers its constituents: it accepts every event that one of them accepts. A *perfect*
merger accepts nothing else; an *imperfect* one accepts some events for nothing, up to a threshold.
There are two ways to make one.

**By pruning** (`mergers`): the OR of any filters, pruned. `Mergers` also keeps what each merger
stands for, and says what neighbours must hear when one comes or goes.

**By rules** (`by_rules`): conjunctions that differ in a single predicate form a group (`groups`).
Rules say which predicate may replace two on the same attribute (`rules`), and the group is merged
step by step, the cheapest step first. `merger_imperfection` computes what a merger accepts for
nothing, with conjunctions as `boxes` of values and the probabilities of `statistics`.
"""
