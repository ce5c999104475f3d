"""diagrams."""
