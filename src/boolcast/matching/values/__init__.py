"""Filters and values as integers.

`shapes` takes a filter apart into its shape, which many filters share, and its constants.
`columns` collects the constants of all filters of one shape. All constants of an attribute form
a rank space (`ranks`, over the sorted arrays of `constants`): the rank of a value is the number of
boundaries before it. `rank_tables` holds the spaces of all attributes of a segment. A test such as
`price < 25` then becomes an interval of ranks, and comparing any two values, whatever their
kinds, becomes comparing two integers. That is exact, not approximate.

`segments` defines the arrays of an index, and `selectivity` estimates how many events satisfy a
test, from statistics or from a sample of events.
"""
