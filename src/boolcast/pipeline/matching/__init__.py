"""Batches of events against one version of an index, in parallel.

On the driver, `matches` pins the version and plans a job. On the workers, `match_task` decodes
each batch and runs it through the segments, with the same kernels as `Matcher`. `workers` keeps
segments open from one task to the next; they are mapped into memory, so all workers of a machine
share them. An index that is larger than a worker may hold is opened in groups: the task gathers
many events and shows them to one group after another.

Invariant: for each event the matches are those of `Matcher`, whatever the partitions, batches,
groups and retries.
"""
