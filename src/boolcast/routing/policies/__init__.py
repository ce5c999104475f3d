"""The decisions of a broker, each behind a small Protocol with a twin that does nothing.

*Propagation* decides which neighbours must know a subscription. *Covering* decides which of those
hear it, because a neighbour needs no filter that another one covers. *Unsubscription* decides how
far a removal travels, and how the subscriptions that it uncovers travel with it. `registry` maps
every name of the configuration to its class and builds the policies of one broker.
"""
