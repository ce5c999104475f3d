"""Experiments: the benchmarks of `boolcast bench`, and the papers' experiments as they come.

Start at `match_benchmark`, which turns what the user chose (`choices`) into steps. `batches`
measures the engines of `contenders` side by side on one workload, `single_events` a call of
`match` with a dict, `comparison` the access engine against what else a Python user could take,
one module each in `rivals`. `figures` are the results, as data. `one_core` sees to it that all
of them have one processor.

`pruning` is P1's experiment with one broker.
"""
