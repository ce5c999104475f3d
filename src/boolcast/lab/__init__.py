"""Experiments: the benchmarks of `boolcast bench`, and the papers' of `boolcast reproduce`.

Start at `match_benchmark`, which turns what the user chose (`choices`) into steps. `batches`
measures the engines of `contenders` side by side on one workload, `single_events` a call of
`match` with a dict, `comparison` the access engine against what else a Python user could take,
one module each in `rivals`. `figures` are the results, as data. `one_core` sees to it that all
of them have one processor.

`unsubscription` has the experiments of P4: which runs there are. `unsubscription_workload` is their
load, `unsubscription_run` plays one of them in virtual time, `unsubscription_deliveries` sees to it
that nothing is lost, and `unsubscription_checks` holds the results against the paper.

`advertisements` has the experiments of P3: which runs there are. `advertisement_overlap` asks
subscriptions against advertisements, `advertisement_pruning` prunes these, and
`advertisement_checks` holds the results against the paper.

`pruning_run` has the experiments of P1: which runs there are. `pruning` is the one with one broker,
`pruning_network` that with five; `pruning_curves` are the results, and `pruning_checks` holds them
against the paper.

`reproduction` keeps the runs of all in a folder and runs only what is not there, `spread` hands
them out by Spark, and `checks` says what a check is.
"""
