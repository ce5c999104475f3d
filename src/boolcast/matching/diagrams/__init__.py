"""P2's engine: filters as shared decision diagrams, which also answer what covers what.

`constraints` turns a filter into a monotone formula over constraints, each a set of values of one
attribute. `variables` numbers them, in the attribute order of `variable_order`. `nodes` builds
ordered diagrams in which equal parts of different filters are one node. `matching` finds the
diagrams that are true for an event, from the variables that are true upwards, and skips most
nodes. `questions` and `covering` find the filters that cover a given one, or are covered by it,
with `implications` between constraints. `diagrams` holds it all, and `engine` is the match engine.

Building a diagram has a limit on nodes. Filters beyond it stay outside and are evaluated one by
one.
"""
