"""Boolcast on Spark: jobs from DataFrame to DataFrame, over the same engine as everywhere.

`sessions` makes Spark sessions, with a Java from `java`; no other module here does.
"""

from boolcast.pipeline.sessions import session

__all__ = ["session"]
