"""Match engines: which subscriptions accept an event?

Every engine has the face of `protocol` and answers exactly as the reference evaluator does.
`scan` asks every filter; `counting` is P1's two-step filter with its selectivity counters;
`access` is what users get as `boolcast.Matcher`.

Inside `access`: filters are taken apart into `shapes` and constants (`columns`; of many at
once `rows` reads the table, `forms` the texts by their literals, and `bulk` makes a segment),
constants become ranks (`ranks`, `spaces`), and `building` makes of them a segment of arrays
(`segments`), with cuts chosen by `selectivity`. `live` adds who holds which filter, with ids
and texts as `strings`, and the dead; `merging` says when segments become one. `encoding` turns
events into ranks, `inputs` and `numbering` read many of them, `searching` runs the kernel.
`kernels` alone imports numba.

`store`, `snapshots` and `stored` keep an index in a folder, version by version.
"""
