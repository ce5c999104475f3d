"""A segment: an immutable index over many filters, and the subscriptions that hold them.

Filters come one by one (`live_segment`), from a table (`subscription_rows`, `bulk_load`) or from
older segments that are merged (`merging` chooses which). `bulk_load` parses few texts: it splits a
text at its literals, and texts that differ only in literals share a template
(`literal_templates`). `deduplication` keeps equal filters once, and `filter_subscribers` lists the
subscriptions of each. `building` chooses the cut of each filter by estimated selectivity, and
writes the rest of the filter as jump code.

Searching (`kernel_runner`) takes three steps: encode the events for this segment, run the kernel,
and ask the reference evaluator where the kernel leaves a match open.

A filter has a *slot*, a subscription a *position*. Removing a subscription sets the version from
which its position is dead; nothing else in a segment ever changes.
"""
