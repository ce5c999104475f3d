"""From rows of subscriptions to a new version of an index.

Rows come from a DataFrame or from files. A hash of the id assigns each row to a bucket, and all
rows of a bucket meet in one task. The task settles rows with the same id, compares them with what
the bucket already holds, and compiles only the filters that are new. It writes new segments and
tombstones to the store, and returns their names and checksums: a few hundred bytes. The driver
puts them into a manifest and commits it under the next number.

Invariants: a version is complete or does not exist, since nothing refers to its files before the
commit. A row is used, counted as a duplicate or superseded, or rejected with a reason; none is
lost silently. If another writer commits first, the job starts over on top of that version.
"""
