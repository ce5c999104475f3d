"""The broker core: stimuli in, effects out; no input, output, clock, chance or thread.

`core.broker.Broker.handle(stimulus, now=…)` is the only door. A stimulus is a client's request, a
neighbour's message, a link that comes up, or a timer. The answer is a list of effects to carry out
in order: write a record, send a message, deliver an event. The simulator and the network are two
interpreters of that list.

**A subscription's way.** A client subscribes. Its filter is analysed and becomes an entry of the
table, and the match engine indexes it. For each neighbour, the propagation policy asks whether the
neighbour must know it: under flooding always, otherwise if it overlaps with an advertisement that
came from there. Then the covering graph of that link decides whether the neighbour hears it, or
whether a more general filter that was sent before covers it. What is sent arrives at the next
broker as a message, which makes an entry there, and so on towards the publishers.

**An event's way.** The publisher's broker checks the event against the publisher's advertisements.
Every broker on the way matches it against its table once. It sends the event to each link with a
matching entry, except the one it came from, and delivers it to its own clients.

**Make before break.** When a subscription goes, others that it covered must be told. A neighbour
always hears first what it must know more and then what it may forget (R2). Links keep the order, so
there is no moment in which an event that somebody wants has no way.

What keeps every event on its way, whatever the policies:

- Local clients are matched by their original filters (R1).
- Neighbours are told in make-before-break order (R2).
- A neighbour that has not yet said what it wants, or not yet answered an advertisement, gets every
  event that this concerns.
- Events that a broken link held up go everywhere.

Policies save traffic, memory or time and never change what clients get. Each has a twin that does
nothing, and a test compares the two.
"""
