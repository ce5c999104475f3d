"""P1: how far subscriptions can be pruned before too many events pass.

A run prunes a table (`one_broker`), or the tables of five brokers (`network`), in equal steps until
nothing is left to prune. At each step the same events are matched. The resulting curve shows
predicates removed, events added, work and time, and has a cut-off where the gain is greatest.
"""
