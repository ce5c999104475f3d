"""Match engines: which subscriptions accept an event?

Every engine has the face of `protocol` and answers exactly as the reference evaluator does.
`scan` asks every filter; `counting` is P1's two-step filter with its selectivity counters;
`access` is what users get as `boolcast.Matcher`.

Inside `access`: filters are taken apart into `shapes` and constants (`columns`, `bulk` for
many at once), constants become ranks (`ranks`, `spaces`), and `building` makes of them a
segment of arrays (`segments`), with cuts chosen by `selectivity`. `live` adds the ids and the
dead; `merging` says when segments become one. `encoding` turns events into ranks, `inputs`
and `numbering` read many of them, `searching` runs the kernel. `kernels` alone imports numba.

`store`, `snapshots` and `stored` keep an index in a folder, version by version; `catalog` says
what the segments of a version are, some of which may only list the dead of others.
"""
