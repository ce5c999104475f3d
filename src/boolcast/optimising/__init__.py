"""Rewrites that make routing entries smaller: prune, replace, merge.

Every rewrite makes an entry more general: the new one covers the old one, so some events travel
for nothing and none is lost. Rewrites are for entries that came from neighbours, and for copies
sent to neighbours. What a client of this broker asked for is matched as it was written (R1).

`statistics` estimates how many events a filter accepts. `pruning` removes conditions from filters,
or replaces predicates, where that costs fewest further events. `merging` makes one entry of
several. All are pure: entries and statistics in, new entries and a report of the cost out.
"""
