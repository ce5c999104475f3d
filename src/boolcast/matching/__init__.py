"""Match engines: which subscriptions accept an event?

Subscriptions go in as ids with filters, events as Python objects, Arrow or JSON lines; out come
the ids of the subscriptions whose filters accept the event. Every engine has the methods of
`inputs.protocol.Engine` and gives exactly the answer of the reference evaluator. There are four:

- `scan` evaluates every filter. It is the oracle in tests.
- `counting` is P1's engine: it counts satisfied predicates and evaluates few trees.
- `diagrams` is P2's engine: filters share the nodes of decision diagrams.
- `matcher` is the one that users get, as `boolcast.Matcher` (the access engine).

How the matcher works. `values` takes filters apart into shapes and constants and turns constants
into ranks: small integers that say how many constants lie before a value. `segment` indexes each
filter under its *cut*: a few tests of which an event must satisfy one to satisfy the filter.
`inputs` turns events into ranks too. A compiled kernel looks up which cuts an event satisfies and
runs the rest of those filters as jump code. What the kernel cannot decide, such as a regular
expression, goes to the reference evaluator. `store` saves segments as versions of an index and
maps them into memory again.

A match works on one state (`state`): a tuple of segments, some additions that are not indexed
yet, and a version number. Segments never change, except that a subscription can be marked as
dead from a version on. So matches need no lock, and see all changes before them and none after.

`relations` answers another question, for routing: which filters overlap with, or cover, a given
one? `predicate_counts` only counts matches, for statistics.

Only the `kernels` folders import numba, and callers import kernels when they first need one:
`import boolcast` stays fast.
"""
