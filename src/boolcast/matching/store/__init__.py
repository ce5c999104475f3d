"""An index on disk: versions of segments in a folder or an object store.

`segment_codec` turns a segment into a few arrays, most of them as they are in memory, and back;
`array_packing` joins arrays, since every file costs syncs to disk. `catalog` says what each
segment of a version holds: subscriptions, tombstones for another segment, or rejected rows.
`snapshots` publishes a version by writing its manifest last, under a number that is not taken.
It needs only the few operations of `store`, of which `put_if_absent` alone has to be atomic.

A version is complete or absent, whatever crashes. Loading verifies a checksum of every file and
maps arrays into memory. Deleting old versions is safe beside publishers and readers.
"""
