"""Match a stream, each result exactly once.

Spark divides the stream into batches, numbers them, and writes the offsets of a batch to its
checkpoint before the batch begins. `match_stream` then does this for each batch:

1. If the ledger in the output has a manifest for this number and these offsets, the batch is a
   repetition: skip it. With other offsets, stop: the checkpoint does not fit the output.
2. Check that the files of the batch still exist; Spark would silently skip them.
3. Pin the batch to the newest version of the index that can be read. A repetition uses the same
   version, so it gives the same results.
4. The tasks match, and write matches and dead letters to new Parquet files (`delivery`).
5. The driver writes the manifest with the names of these files. From now on the batch is
   published.

A crash before step 5 leaves files that no manifest names: nobody reads them, and they are deleted
when the next batch begins. A crash after step 5 leads to step 1. `stream_identity` records at the
first start which checkpoint, index and columns belong to an output, and refuses others.
"""
