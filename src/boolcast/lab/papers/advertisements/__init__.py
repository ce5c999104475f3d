"""advertisements."""
