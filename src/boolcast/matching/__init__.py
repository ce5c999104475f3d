"""Match engines: which subscriptions accept an event?

Every engine has the face of `protocol` and answers exactly as the reference evaluator does.
`scan` asks every filter; `counting` is P1's two-step filter with its selectivity counters;
`access` is what users get as `boolcast.Matcher`.

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
`violations` what excludes each way to satisfy a tree, and `growing` arrays take what comes.

`store`, `snapshots`, `stored` and `packing` keep an index in a folder, version by version;
`catalog` says what the segments of a version are, some of which may only list the dead of others.
"""
