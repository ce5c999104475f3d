"""Compiled loops of the overlap index."""
