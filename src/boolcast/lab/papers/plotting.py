"""How the papers' plots look and are saved; needs matplotlib.

Legends stand outside the axes, so they cover no data. Curves that coincide stay visible: each one
is drawn on top of the earlier ones, thinner, and with other dashes and markers.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

Style = dict[str, Any]

_COLOURS: Final = ("tab:blue", "tab:orange", "tab:green", "tab:red", "tab:purple", "tab:brown")
_LINES: Final = ("-", (0, (4, 2)), (0, (2, 2)), (0, (6, 2, 1, 2)), "-", (0, (3, 3)))
_MARKERS: Final = ("o", "s", "D", "^", "v", "x")
_WIDEST: Final = 4.0
_THINNEST: Final = 1.4


def styles(names: Iterable[str], *, marked: bool = True) -> dict[str, Style]:
    """A style for each curve, by its label; draw the curves in this order."""
    known = list(names)
    last = max(len(known) - 1, 1)
    found: dict[str, Style] = {}
    for number, name in enumerate(known):
        at = number % len(_COLOURS)
        share = number / last
        found[name] = {
            "label": name,
            "color": _COLOURS[at],
            "linestyle": _LINES[at],
            "linewidth": _WIDEST + share * (_THINNEST - _WIDEST),
            "zorder": 3 + number / 10,
        }
        if marked:
            found[name] |= {"marker": _MARKERS[at], "markersize": 8 - 4 * share}
    return found


def without_markers(style: Style) -> Style:
    """The same style for a curve of many points."""
    return {name: value for name, value in style.items() if not name.startswith("marker")}


def shades(count: int) -> list[Style]:
    """Styles for a family of curves with a rising parameter, from dark to bright."""
    last = max(count - 1, 1)
    colours = mpl.colormaps["plasma"]
    return [
        {
            "color": colours(0.92 * number / last),
            "linewidth": 7.0 - 5.8 * number / last,
            "zorder": 3 + number / 10,
        }
        for number in range(count)
    ]


def grid_of(rows: int, columns: int, *, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """A figure in inches, and its panels row by row."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False).flat)


def legend_above(figure: Figure, axes: Iterable[Axes], **options: Any) -> None:
    """One legend above all panels, with each label of these axes once."""
    handles: dict[str, Any] = {}
    for each in axes:
        for handle, label in zip(*each.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    options.setdefault("ncols", min(len(handles), 6))
    figure.legend(
        handles.values(), handles.keys(), loc="outside upper center", frameon=False, **options
    )


def legend_below(axes: Axes) -> None:
    """A legend below one panel, under the label of its axis."""
    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.18),
        ncols=3,
        frameon=False,
        fontsize="small",
        handlelength=2.2,
        columnspacing=1.2,
    )


def save(figure: Figure, path: Path) -> None:
    """Write the figure as SVG; the same figures give the same file."""
    # Without these settings, SVG files hold the time and random ids.
    with mpl.rc_context({"svg.hashsalt": "boolcast", "svg.fonttype": "none"}):
        figure.savefig(path, metadata={"Date": None})
