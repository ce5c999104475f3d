"""The compiled inner loops: free functions on arrays, and the only place that imports numba."""
