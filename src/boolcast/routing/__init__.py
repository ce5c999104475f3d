"""The broker core: stimuli in, effects out; no input, output, clock, chance or thread.

`broker` is the door: `Broker.handle(stimulus, now=…)` returns effects. `stimuli`, `effects`,
`messages` and `records` are the words that cross it, `configuration` and `policies` say how a
broker behaves, `topology` who is linked to whom. `links` (with `packets`) is a second machine,
below: it makes a reliable link that keeps the order out of a connection that does not, and tells
when a neighbour has lost its memory. `encoding` makes bytes of messages, packets and records.

Inside, `state` holds the `tables` (who asked for what, by link and by client), the `neighbours`
(what each must know and was told) and the `journal` (what must outlive the process, written by
`keeping`, read by `restoring`). Functions over it act: `clients`, `advertising`, `subscribing`,
`publishing`, `acknowledging`, `synchronising`. `validation` asserts what holds between steps.

Policies are small objects, each with a twin that does nothing: `propagation` says which
neighbours must know a subscription (`overlapping` finds out what overlaps), `covering` which of
those it is told, `unsubscription` how far a removal goes and what goes with it. `rewriting` says
in which form subscriptions of neighbours are matched, `advertisement_rewriting` in which form
their advertisements are asked for overlaps (both rest on `post_pruning`), `sending` in which form
a client's subscription goes out, `merging` which entries become one; they choose by what
`learning` knows, and `reviewing` has them look at the entries now and then. Covering rests on
`graph` (who covers whom towards one neighbour), that on `candidates` (who may, by `spans`,
`samples` and `needles`) and `forms` (filters, and what is quickly seen of them: ranges and
`alternatives`; the algebra proves the rest).

Four things keep every event on its way, whatever the policy: local clients are matched by their
original filters (R1); a neighbour hears what it must know more before what it may forget (R2);
one that has not yet said what it wants, or not yet answered an advertisement, gets every event
that this concerns; and what a broken link held up goes everywhere.
"""
