"""`make demo`: what convinces in the first two minutes, measured where it runs.

`boolcast demo` (`tour`) first loads the same filters into all match engines (`engines`), times
them on the same events and fails if they disagree. Then it explains, proves and simplifies a
filter. `boolcast demo spark` (`stream`) builds an index on Spark and matches a stream of events,
some malformed, while the index changes. It ends with figures read back from what was published,
never from what was meant to be published.
"""
