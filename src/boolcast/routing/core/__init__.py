"""The broker at work: a state of plain data, and functions that change it.

`broker` looks up the handler for a stimulus in a table. Handlers (subscribing, advertising,
publishing, synchronising, reviewing) check the request and decide. They do not call each other.
Changes go through `forwarding`, which updates the tables of `state` and tells the neighbours, make
before break. `outgoing` sends, and tracks who must still acknowledge what. With `durable` set, the
journal of `persistence` records each change, and the records leave before every other effect of the
step, so a broker that restarts from its disk knows everything it ever said.

Between two steps every invariant of `validation` holds.
"""
