"""Events on their way into an engine.

An engine gets one event as a Python object, or many as Arrow or JSON lines (`protocol`). Engines
that work event by event read them with `event_rows`, numbered; the access engine reads whole
columns with `chunks`. `encoding` turns a chunk, or a single event, into a row of ranks for each
event, and the strings that patterns look at. A malformed event raises EventError with its number,
after the events before it.

`register` holds the subscriptions of the simple engines: equal filters once, each with its ids.
`event_sample` remembers some events, to choose index cuts by. `attribute_watch` notices attributes
that filters use and no event has.
"""
