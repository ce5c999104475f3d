"""Brokers in virtual time, under load and faults, judged by a checker that trusts nobody.

A `Plan` names a topology, a workload, policies, faults and a seed (`scenarios`). A `Run` draws what
the plan leaves open, plays it, waits until nothing is under way, and judges (`runs`). The brokers
are the real ones: the simulation interprets their effects as the network would, with one heap of
timed actions in place of a clock (`network`). All random numbers come from streams that the seed
and a purpose determine, so the same plan gives the same run, down to the hash of its trace.

The checker (`judging`) knows only what clients asked for and got, and what filters mean. Many seeds
run on all cores; a failing one prints the command that replays it.
"""
