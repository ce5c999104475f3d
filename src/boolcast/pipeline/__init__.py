"""Boolcast on Spark: jobs from DataFrame to DataFrame, over the same engine as everywhere.

`indexing` makes an index of subscriptions: `build_index` a new one, `apply_changes` the next
version of one. Rows of the same id are told apart in `changes`; what a task does to its
`buckets` ends in the store, and only what the manifest says comes back.

`matches` shows events to an index: `match`, `match_rejects`, both at once in
`match_with_rejects`, and `count_matches`. `projection` chooses the columns that travel to
Python, `readings` makes events of them there, `visits` matches them with segments that
`workers` keeps open.

`frames` names columns, `stores` finds stores by their places: folders, or an `object_store`,
of which a `local_cache` holds copies to be mapped. `sessions` makes Spark sessions, with a Java
from `java`; no other module here does.
"""

from boolcast.pipeline.indexing import IndexReport, apply_changes, build_index
from boolcast.pipeline.matches import count_matches, match, match_rejects, match_with_rejects
from boolcast.pipeline.sessions import session

__all__ = [
    "IndexReport",
    "apply_changes",
    "build_index",
    "count_matches",
    "match",
    "match_rejects",
    "match_with_rejects",
    "session",
]
