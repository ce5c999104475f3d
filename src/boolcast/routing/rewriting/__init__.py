"""Simpler filters: fewer predicates to match and fewer entries to hold, for some extra traffic.

A rewritten filter accepts everything that the original does, and perhaps more. So an event may
travel a link for nothing, but no delivery is ever missed. Three things are rewritten: subscriptions
of neighbours for matching, advertisements of neighbours for the overlap test, and a client's
subscription before it leaves its first broker. Merging makes one entry of several. All of them
choose where the least is lost, by selectivities that are given or counted. The originals are kept,
and used again when the reason for rewriting is gone. A client's own filter is never rewritten where
its events are delivered (R1).
"""
