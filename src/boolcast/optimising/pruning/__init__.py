"""Make filters shorter and more general, where it costs fewest further events.

To prune is to remove a child of an AND; what is left accepts all that the filter accepted, and
more. `trees` holds a filter with an estimate for each subtree, and finds every valid pruning with
its cost. The estimate comes from a *measure*: `Selectivities` for subscriptions (how many events
pass), `OverlapRanks` for advertisements (how many subscriptions are ruled out).

A queue (`queues`) holds many entries, with the best pruning of each, and does the cheapest one
first until a rule says no (`stopping`). If the measure changes meanwhile, a policy decides about
what is queued (`changes`). `pre_pruning` shortens one filter before it is sent. `replacement` keeps
trees as they are and reduces the number of distinct predicates instead.

Whatever is done, the new filter covers the old one.
"""
