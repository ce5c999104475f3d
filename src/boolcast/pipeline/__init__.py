"""Boolcast on Spark: jobs from DataFrame to DataFrame, over the same engine as everywhere.

`sessions` makes Spark sessions, with a Java from `java`; no other module here does.
`streaming` matches streams: `serving` chooses the version of the index for each batch,
`delivery` is what its tasks do, `ledger` makes it exactly once, `results` reads what came of it.
"""

from boolcast.pipeline.results import collect, read_batches, read_dead_letters, read_matches
from boolcast.pipeline.sessions import session
from boolcast.pipeline.streaming import MatchStream, match_stream

__all__ = [
    "MatchStream",
    "collect",
    "match_stream",
    "read_batches",
    "read_dead_letters",
    "read_matches",
    "session",
]
