"""Match engines: which subscriptions accept an event?

Every engine has the face of `protocol` and answers exactly as the reference evaluator does.
`scan` asks every filter; `counting` is P1's two-step filter with its selectivity counters;
`mbd` is P2's shared decision diagrams; `access` is what users get as `boolcast.Matcher`.

Inside `access`: filters are taken apart into `shapes` and constants (`columns`; of many at
once `rows` reads the table, `forms` the texts by their literals, and `bulk` makes a segment),
constants become ranks (`constants`, `ranks`, `spaces`), and `building` makes of them a segment
of arrays (`segments`), with cuts chosen by `selectivity`. `live` adds who holds which filter,
with ids and texts as `strings`, and the dead; `merging` says when segments become one.
`encoding` turns events into ranks, `inputs` and `numbering` read many of them, `searching` runs
the kernel, and `tallies` only counts. `kernels` alone imports numba, when `compiled` is first
asked for one.

`overlapping` asks another question: which filters overlap with a given one? It counts as
`counting` does, over the same `forests`; `disjointness` finds the predicates that exclude one,
`violations` what excludes each way to satisfy a tree, `possible` says which values a schema leaves
a predicate, and `growing` arrays take what comes.

Inside `mbd`: `diagrams` is a structure of its own, which also answers what covers what. Filters
become formulas over `constraints`, these `diagram_variables` in the order of `diagram_order`, and
the whole `diagram_nodes`; `diagram_matching` and `diagram_covering` ask, the latter by
`implications`. `predicate_indexes` is shared with `counting`.

`store`, `snapshots`, `stored` and `packing` keep an index in a folder, version by version;
`catalog` says what the segments of a version are, some of which may only list the dead of others.
"""
