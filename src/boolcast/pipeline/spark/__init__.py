"""What the jobs need from Spark and from storage; nothing here knows of matching.

`session()` finds a Java, starts or joins Spark, and sets what Boolcast needs. A job gets a
location from the user, a path or a URL. `open_store` turns it into a store that can be pickled
and sent to executors: a folder, or an object store with a cache on the local disk of each
machine. The invariant of every store: `put_if_absent` never overwrites, even with concurrent
writers.

Spark has habits that would change results, and the modules here hide them: it ignores the case of
column names (`exact_columns`), expands wildcards in paths and hides some files (`files`), and
reports errors as pages of Java traces (`error_causes`). `workloads` draws test data on executors.
"""
