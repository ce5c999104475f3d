"""P2: covering and merging of subscriptions with decision diagrams (`boolcast reproduce mbd`).

`tables` measures what covering and merging leave of a table and what routing with it costs,
`insertion` the cost of each new subscription, and `imt` how imperfect mergers may be. `workload`
has the paper's two sets of subscriptions.
"""
