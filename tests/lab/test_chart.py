"""The chart of the engines: lengths by logarithm, every figure written out, the same file again."""

from math import log10
from xml.etree import ElementTree as ET

import pytest
from msgspec.structs import replace

from boolcast.errors import UsageError
from boolcast.lab.benchmarks.choices import EngineName
from boolcast.lab.benchmarks.match.chart import BAR, FASTEST, TEXT, draw
from tests.lab import sample_figures

ACCESS = replace(sample_figures.ACCESS, events=20_000, microseconds_per_event=4.6)
COUNTING = replace(ACCESS, engine=EngineName.COUNTING, events=1_000, microseconds_per_event=854.0)
SCAN = replace(ACCESS, engine=EngineName.SCAN, events=4, microseconds_per_event=800_321.0)
SVG = "{http://www.w3.org/2000/svg}"


def test_lengths_are_logarithms_of_the_times():
    root = ET.fromstring(draw([SCAN, ACCESS, COUNTING]))
    lengths = [float(each.get("width", "")) for each in root.iter(f"{SVG}rect")]
    logs = [log10(each.microseconds_per_event) for each in (ACCESS, COUNTING, SCAN)]
    ratios = [length / log for length, log in zip(lengths, logs, strict=True)]
    assert ratios == pytest.approx([ratios[0]] * 3, rel=0.01)


def test_every_bar_has_its_engine_its_time_and_its_events():
    chart = draw([ACCESS, COUNTING, SCAN])
    texts = [each.text for each in ET.fromstring(chart).iter(f"{SVG}text")]
    assert "Time to match one event against 200,000 filters" in texts
    for engine, time, events in (
        ("access", "4.6 µs", "20,000 events"),
        ("counting", "0.85 ms", "1,000 events"),
        ("scan", "0.8 s", "4 events"),
    ):
        assert {engine, time, events} <= set(texts)


@pytest.mark.parametrize(
    ("microseconds", "written"),
    [
        (0.44, "0.44 µs"),
        (3.37, "3.4 µs"),
        (99.4, "99 µs"),
        (99.6, "0.1 ms"),
        (887.0, "0.89 ms"),
        (99_600.0, "0.1 s"),
        (911_000.0, "0.91 s"),
        (123_000_000.0, "120 s"),
    ],
)
def test_times_have_two_figures_and_the_unit_that_fits(microseconds, written):
    root = ET.fromstring(draw([replace(ACCESS, microseconds_per_event=microseconds)]))
    assert [each.text for each in root.iter(f"{SVG}text") if each.get("class") == "value"] == [
        written
    ]


def test_the_scale_is_in_the_same_units():
    root = ET.fromstring(draw([ACCESS, SCAN]))
    scale = [each.text for each in root.iter(f"{SVG}text") if each.get("text-anchor") == "middle"]
    assert scale == ["1 µs", "10 µs", "0.1 ms", "1 ms", "10 ms", "0.1 s", "1 s"]


@pytest.mark.parametrize("microseconds", [3.37, 5.0, 9.9])
def test_no_line_crosses_a_label(microseconds):
    fastest = replace(ACCESS, microseconds_per_event=microseconds)
    root = ET.fromstring(draw([fastest, COUNTING, SCAN]))
    labels = [each for each in root.iter(f"{SVG}text") if each.get("class") == "value"]
    lines = [
        [float(each.get(name, "")) for name in ("x1", "y1", "y2")]
        for each in root.iter(f"{SVG}line")
    ]
    for label in labels:
        left, base = float(label.get("x", "")), float(label.get("y", ""))
        # Wide letters of 14 pixels: 9 across, 14 above the base line and 4 below.
        right = left + 9 * len(label.text or "")
        assert not [
            (x, top, bottom)
            for x, top, bottom in lines
            if left < x < right and top < base + 4 and bottom > base - 14
        ]


def test_the_same_figures_give_the_same_small_file():
    chart = draw([ACCESS, COUNTING, SCAN])
    assert chart == draw([SCAN, COUNTING, ACCESS])
    assert len(chart.encode()) < 20_000


@pytest.mark.parametrize(
    "microseconds", [1.0, 9.9, 10.0, 0.4, 100_000.0], ids=lambda value: f"{value:g}"
)
def test_a_bar_is_never_longer_than_the_scale(microseconds):
    root = ET.fromstring(draw([replace(ACCESS, microseconds_per_event=microseconds)]))
    (bar,) = root.iter(f"{SVG}rect")
    lines = [float(each.get("x1", "")) for each in root.iter(f"{SVG}line")]
    end = float(bar.get("x", "")) + float(bar.get("width", ""))
    assert min(lines) < end <= max(lines) + 0.1


def test_figures_of_two_sizes_have_no_common_chart():
    with pytest.raises(UsageError, match="exactly one"):
        draw([ACCESS, replace(COUNTING, subscriptions=100)])


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2."""
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        share / 12.92 if share <= 0.04 else ((share + 0.055) / 1.055) ** 2.4 for share in shares
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(("colour", "least"), [(TEXT, 4.0), (BAR, 2.9), (FASTEST, 2.9)])
@pytest.mark.parametrize("page", ["#ffffff", "#0d1117"])
def test_colours_are_readable_on_a_white_page_and_on_a_dark_one(colour, least, page):
    assert colour in draw([ACCESS, SCAN])
    dark, light = sorted((luminance(colour), luminance(page)))
    assert (light + 0.05) / (dark + 0.05) >= least
