"""How filters relate: which of many cover a given filter, which does it cover, which overlap it?

Two indexes answer, both while filters come and go. Neither knows about brokers.

**Covering** (`covering_index`). Each filter is analysed once (`analysed_filters`): its *ranges* say
which values an accepted event can have, and its *witnesses* are events that it accepts. A filter
covers another only if its ranges include the other's and it accepts the other's witnesses. So
filters are indexed by ranges (`range_index`); those with an OR or a pattern, which ranges describe
badly, are looked up with witnesses (`witness_index`). The few candidates that come out are proven
by the algebra, once for each pair. Shared decision diagrams answer the same questions without
proofs.

**Overlap** (`overlap_index`). Every way to satisfy the filter in question rules out some predicates
of the stored ones: those that share no value with it (`values.disjointness`, `violations`). Stored
filters that can be true without these predicates overlap. A kernel counts, as in the counting
engine.

Errors go one way only. "Covers" is never said wrongly, and an overlap is never missed. Where a
proof or a budget ends early, the answer costs a broker traffic, never a delivery.
"""
