"""The laboratory: demos, benchmarks and the papers' experiments. The product does not need it.

`commands` adds `boolcast demo`, `bench` and `reproduce` to the command line. Nothing heavy is
imported before one of them runs.

A *benchmark* measures speed on this machine: it draws a workload, runs several contenders on the
same events, checks that they find the same matches, and reports times. A *reproduction* repeats a
paper's experiments: it carries out seeded runs, keeps their figures in a folder, and checks the
paper's statements against them. What a run counts is the same on every machine; only its times are
not.

`one_core` is shared by both: it confines a measurement to one core, and takes processor time.
"""
