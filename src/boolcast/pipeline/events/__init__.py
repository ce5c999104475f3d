"""From a table, JSON or files to batches of events in a worker.

On the driver, `column_selection` decides what is sent to Python: the event's id, then the
attributes that filters name, or one column of JSON. Workers can also read Parquet files
themselves. In a batch job each task gets pieces of files that all have the columns Spark sees
(`parquet_reading`). In a stream each task gets whole files, and each file has columns of its own
(`parquet_streaming`, `file_events`).

In the worker, `decoded_batches` turns an Arrow batch into columns for the engine.

Invariants: an attribute means the same on every path, so a result never depends on who read the
event. What cannot be read, an event, an id, some rows or a file, is reported with its reason and
does not stop the rest. Only a file that cannot be reached is an error: it may be back later.
"""
