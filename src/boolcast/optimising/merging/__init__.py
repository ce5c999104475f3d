"""merging."""
