"""`boolcast bench match`: the match engines on one core, by processor time.

Engines load the same subscriptions from text, learn from a first batch of events, and then match
later events, Arrow in and Arrow out. Slow engines get fewer events, so that a run takes minutes
at most; every figure says how many. Two more measurements use only the filters of class 1, which
have one shape: single calls with a dict, and alternatives such as DuckDB or Polars.
"""
