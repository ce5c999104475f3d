"""`boolcast bench spark`: Boolcast on Spark, compared with what a Spark user would write instead.

`run` starts a process for each part and hands it an `Order`. The process (`part_process`) confines
itself to its processors, starts Spark, draws events into Parquet files, builds an index, and lets
its `contenders` take turns: Boolcast, joins that a user would write, and bare transport to Python.
Its figures come back as JSON lines, and `ratios` compares them.
"""
