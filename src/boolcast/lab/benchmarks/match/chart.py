"""The engines side by side as an SVG picture, drawn from measured figures.

The file holds no time and no random ids, so the same figures give the same file. Its colours are
readable on a white page and on a dark one.
"""

from collections.abc import Iterator, Sequence
from math import ceil, floor, log10
from typing import Final

from boolcast.errors import UsageError
from boolcast.lab.benchmarks.figures import BatchFigures

_WIDTH: Final = 720
_LEFT: Final = 130
_RIGHT: Final = 150
_TOP: Final = 64
_ROW: Final = 46
_BAR: Final = 24
_BOTTOM: Final = 56
# The gap between a bar and its label, and the width of a wide letter.
_GAP: Final = 8
_LETTER: Final = 9

# A page may be dark where the viewer's system is not, so all colours are readable on both.
TEXT: Final = "#737d87"
BAR: Final = "#8c959f"
FASTEST: Final = "#2f81f7"

_STYLE: Final = (
    "text{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;"
    f"font-size:13px;fill:{TEXT}}}"
    ".title{font-size:16px;font-weight:700}"
    ".name,.value{font-size:14px;font-weight:700}"
    ".small{font-size:11px}"
    f".bar{{fill:{BAR}}}.fastest{{fill:{FASTEST}}}"
    f"line{{stroke:{BAR};stroke-opacity:.35}}"
)


def draw(figures: Sequence[BatchFigures]) -> str:
    """Bars on a logarithmic scale, the fastest engine first. Raises UsageError.

    All figures must be of one workload and size.
    """
    sizes = {(each.workload, each.subscriptions) for each in figures}
    if len(sizes) != 1:
        raise UsageError("--chart needs exactly one workload and one number of subscriptions")
    ((workload, subscriptions),) = sizes
    rows = sorted(figures, key=lambda each: each.microseconds_per_event)
    low = floor(log10(rows[0].microseconds_per_event))
    # One decade below the fastest, so that its bar has a length too.
    low -= log10(rows[0].microseconds_per_event) - low < 0.25
    high = max(ceil(log10(rows[-1].microseconds_per_event)), low + 1)
    per_decade = (_WIDTH - _LEFT - _RIGHT) / (high - low)
    lengths = [(log10(each.microseconds_per_event) - low) * per_decade for each in rows]
    labels = [_time(each.microseconds_per_event) for each in rows]
    bottom = _TOP + _ROW * len(rows)
    height = bottom + _BOTTOM
    title = f"Time to match one event against {subscriptions:,} filters"
    frame = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    summary = f'role="img" aria-label="{_summary(title, rows)}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {frame} {summary}>',
        f"<style>{_STYLE}</style>",
        _text(16, 28, title, "title"),
        _text(16, 46, "logarithmic scale: each line is ten times the one before", "small"),
    ]
    for decade in range(low, high + 1):
        x = _LEFT + (decade - low) * per_decade
        for start, end in _beside_labels(x, lengths, labels):
            parts.append(f'<line x1="{x:.1f}" y1="{start}" x2="{x:.1f}" y2="{end}"/>')
        parts.append(_text(x, bottom + 16, _time(10.0**decade), "small", anchor="middle"))
    for number, (each, length, label) in enumerate(zip(rows, lengths, labels, strict=True)):
        y = _TOP + _ROW * number
        size = f'width="{length:.1f}" height="{_BAR}"'
        kind = "bar" if number else "bar fastest"
        parts += [
            _text(_LEFT - 12, y + 13, each.engine, "name", anchor="end"),
            _text(_LEFT - 12, y + 28, _events(each.events), "small", anchor="end"),
            f'<rect class="{kind}" x="{_LEFT}" y="{y + 4}" {size} rx="3"/>',
            _text(_LEFT + length + _GAP, y + 21, label, "value"),
        ]
    note = f"boolcast bench match --workload {workload}, one core, processor time"
    parts += [_text(16, height - 14, note, "small"), "</svg>"]
    return "\n".join(parts) + "\n"


def _text(x: float, y: float, content: str, kind: str, *, anchor: str = "start") -> str:
    where = f'x="{x:.1f}" y="{y:.1f}" class="{kind}"'
    return f'<text {where} text-anchor="{anchor}">{content}</text>'


def _summary(title: str, rows: Sequence[BatchFigures]) -> str:
    times = ", ".join(f"{row.engine} {_time(row.microseconds_per_event)}" for row in rows)
    return f"{title}: {times}"


def _events(count: int) -> str:
    return f"{count:,} events"


def _beside_labels(
    x: float, lengths: Sequence[float], labels: Sequence[str]
) -> Iterator[tuple[int, int]]:
    """The stretches of the vertical line at `x` that cross no label."""
    start = _TOP - 6
    for number, (length, label) in enumerate(zip(lengths, labels, strict=True)):
        left = _LEFT + length + _GAP
        if left <= x <= left + _LETTER * len(label):
            top = _TOP + _ROW * number
            yield start, top
            start = top + _BAR + 8
    yield start, _TOP + _ROW * len(labels)


def _time(microseconds: float) -> str:
    """Two significant figures, as a handful of events gives no more, in µs, ms or s."""
    rounded = float(f"{microseconds:.2g}")
    for unit, size in (("µs", 1), ("ms", 1e3)):
        if rounded < 100 * size:
            return f"{rounded / size:g} {unit}"
    return f"{rounded / 1e6:,g} s"
