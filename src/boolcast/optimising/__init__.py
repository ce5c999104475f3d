"""Rewrites that make routing entries smaller: prune, replace, merge.

All of them let more events pass and never fewer: the new entry covers the old one. They are for
entries that came from neighbours, and for copies that go to neighbours; what a client of this
broker asked for is matched as it was written (R1).

`estimates` says how many events a tree lets pass, from its leaves; `selectivities` knows the
leaves, from statistics, and says where it had to guess (`distributions` reads value bins).
`trees` is a filter with its estimates, and finds what can be pruned from it at which cost.
`pruning_queue` prunes many entries, the cheapest cut first, with `changes` for statistics that
move on and `stopping` for when to stop. Of subscriptions that is the `selectivity_queue`; of
advertisements the `advertisement_queue`, which goes by `ranks`: how much each rules out.
`pre_pruning` prunes one filter before it is sent. `replacement` puts covering predicates in the
place of rare ones.

`mergers` makes one entry out of several by pruning, and takes any merger apart again. The other
way is by rules: `merging_rules` says which predicate may stand for two, `merging_groups` what
becomes of conjunctions that differ in one predicate only (the one on top of an
`attribute_order`), `merging_by_rules` finds such groups among many. `degrees` says how imperfect
a merger is, by the `chances` of values, on conjunctions as `boxes`. `merged_tables` is what
covering and merging leave of one broker's table, for experiments.
"""
