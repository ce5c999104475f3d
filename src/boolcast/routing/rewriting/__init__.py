"""rewriting."""
