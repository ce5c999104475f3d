"""What a broker holds: entries, neighbours, operations under way, and two relations among filters.

An entry is a subscription or advertisement with its origin, a link or a client. For each neighbour
there is a graph of who covers whom among the filters it must know; the roots of that graph are what
it is told. The overlap tests answer which entries have an event in common with a filter. Nothing
here sends or decides.
"""
