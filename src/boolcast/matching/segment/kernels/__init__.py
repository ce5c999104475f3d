"""The compiled search of a segment; importing its module loads numba."""
