"""Writing plots, the same file for the same figures; needs matplotlib."""

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure


def save(figure: Figure, path: Path) -> None:
    """Write the figure as SVG."""
    # Without these every file would differ: SVG has its time in it, and random ids.
    with mpl.rc_context({"svg.hashsalt": "boolcast", "svg.fonttype": "none"}):
        figure.savefig(path, metadata={"Date": None})
