"""What a Python user could take instead of Boolcast for class 1 of the auction.

All alternatives have an advantage over an engine for arbitrary filters: they get the constants
as columns, where the engine parses texts, and they know the shape of the filters beforehand:

    title = ? and ending < ? and (condition = 'new' and price < ? or condition = 'used' and …)

An alternative loads a table with the columns `subscription`, `title`, `ending`, `new` and
`used`. For a table of events, it returns the same matches as the engines: an Arrow table with the
columns `event` and `subscription`. The benchmark checks that they agree.
"""
