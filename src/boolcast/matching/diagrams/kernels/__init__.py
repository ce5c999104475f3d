"""Compiled operations on diagrams; importing the modules loads numba."""
