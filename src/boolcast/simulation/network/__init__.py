"""Brokers, wires and clients in virtual time.

Each broker runs in a process with one job queue: it takes a job, the job takes the time that its
costs say, and only at the end is its result seen from outside. A process that crashes in between
has not done the job. Packets travel over wires with latency, bandwidth and loss. Clients do not
give up: they ask again when their broker is back. The timeline is a heap of actions; time passes
only from one action to the next.

Observers hear everything that happens, in order, and change nothing.
"""
