"""Observers that judge a run: right or wrong, how expensive, and the same as before?

The checker decides which deliveries must arrive, may arrive or must not, from the requests of
clients and the moments at which nothing was under way. Metrics count traffic, queues, tables and
delays over virtual time. The trace is one hash over everything that brokers did.
"""
