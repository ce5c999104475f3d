"""`boolcast bench`: how fast the engines are, alone and on Spark.

The command turns its options into a `Choice`. The `run` of `match` or `spark` measures it step by
step and yields figures, which are plain data. `output` writes them as JSON lines while they come,
or each `report` shows them as tables at the end. All contenders of a workload get the same events,
and a contender that finds other matches than the others fails an assertion.
"""
