"""The picture of `boolcast demo spark`: its rate, and filters that match once they are added."""

from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from boolcast.cli.output.writing import counted
from boolcast.errors import FileError
from boolcast.lab.demo.stream_summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(summary: Summary, path: Path) -> None:
    """Draw the rate over time and the matches of new filters. Raises FileError."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra, and a second

    figure = Figure(figsize=(10, 6.5), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    figure.suptitle(
        f"{summary.stream.events_per_second:,.0f} events a second against "
        f"{summary.versions[0].subscriptions:,} filters, on {counted(summary.cores, 'core')}"
    )
    _draw_rate(above, summary)
    _draw_watches(below, summary)
    try:
        figure.savefig(path, dpi=120)
    except OSError as error:
        raise FileError(f"cannot draw: {error}", path=str(path)) from None


def _draw_rate(axes: "Axes", summary: Summary) -> None:
    """Draw a bar per batch, as wide as the time to the next: its area is the batch's events."""
    stream = summary.stream
    bounds = [*(each.start for each in stream.batches), stream.seconds]
    widths = [after - before for before, after in pairwise(bounds)]
    rates = [each.events / width for each, width in zip(stream.batches, widths, strict=True)]
    axes.bar(bounds[:-1], rates, widths, align="edge", color="0.85", edgecolor="white")
    mean = stream.events_per_second
    axes.axhline(mean, color="C0", linewidth=2, label=f"mean: {mean:,.0f} events a second")
    axes.set_ylim(0, 1.35 * max(rates))
    axes.annotate(
        "first batch: workers start,\nkernels compile or load",
        (widths[0] / 2, rates[0]),
        (0, 1.05 * max(rates)),
        arrowprops={"arrowstyle": "->"},
        fontsize="small",
    )
    axes.set_ylabel("events a second")
    axes.legend(loc="upper right", frameon=False)


def _draw_watches(axes: "Axes", summary: Summary) -> None:
    stream = summary.stream
    times = [at for each in stream.batches for at in (each.start, each.start + each.seconds)]
    for number, watch in enumerate(stream.watches):
        matches = [each.watched.get(watch.subscription, 0) for each in stream.batches]
        steps = pairwise([0, *accumulate(matches)])
        axes.plot(times, list(chain(*steps)), color=f"C{number + 1}", label=watch.filter)
    for number, version in enumerate(summary.versions[1:]):
        used = [each.start for each in stream.batches if each.version >= version.version]
        if used:
            axes.axvline(used[0], color=f"C{number + 1}", linestyle=":")
    axes.set_title("Filters added while the stream runs match from the next batch on")
    axes.set_ylim(bottom=0)
    axes.set_ylabel("matches so far")
    axes.set_xlabel("seconds since the stream began (dotted: a new version of the index)")
    axes.legend(fontsize="small", loc="upper left")
