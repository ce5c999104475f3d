"""P4: what happens when a subscription that covers many others is removed.

A run sets up 49 brokers with thousands of subscriptions in virtual time, publishes events, removes
some of the large subscriptions under one of four policies, and records delays, queues, tables and
messages. `deliveries` checks every single delivery of every run.
"""
