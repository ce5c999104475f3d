"""Brokers in virtual time, under load and faults, and a checker that trusts nobody.

`simulator` is the door: a `Simulation` interprets the effects of brokers, as the network does, in
virtual time. Under it are `timeline` (one heap), `wires` (latency, bandwidth, loss), `processes`
(a broker that takes one job after the other, each in its time by `costs`), `stacks` (the broker
with the link protocol below it, or without) and `clients`. Random numbers come from `chance`, by
seed and purpose.

What happens: `topologies` (who is linked), `histories` and `scenarios` (what clients do; `groups`
are the subscriptions of one of them), `faults`.
A `Plan` (`plans`) is all that in words; `runs` plays plans, one or many seeds on all cores;
`combinations` lists every legal policy.

Who watches is an `Observer` (`observation`): the `checker` knows only what clients did and the
reference evaluator, `metrics` counts over virtual time, `traces` makes one hash of everything.
"""
