"""What all plots of the papers share: no legend covers data, no curve hides another."""

import pytest

from boolcast.lab.papers.runs import chosen_experiments

pytest.importorskip("matplotlib")

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from boolcast.lab.papers.plotting import grid_of, legend_above, legend_below, save, shades, styles

NAMES = ("active", "lazy", "packing", "incremental")


def drawn(*, above: bool) -> Figure:
    figure, panels = grid_of(2, 2, width=8, height=6)
    for axes in panels:
        for style in styles(NAMES).values():
            axes.plot([0, 1, 2], [3, 5, 4], **style)
        axes.set_xlabel("subscriptions")
    if above:
        legend_above(figure, panels)
    else:
        for axes in panels:
            legend_below(axes)
    FigureCanvasAgg(figure).draw()
    return figure


@pytest.mark.parametrize("above", [True, False])
def test_a_legend_stands_outside_all_axes(above):
    figure = drawn(above=above)
    of_axes = [axes.get_legend() for axes in figure.axes]
    legends = figure.legends or [legend for legend in of_axes if legend is not None]
    assert len(legends) == (1 if above else 4)
    for legend in legends:
        assert [text.get_text() for text in legend.get_texts()] == list(NAMES)
        box = legend.get_window_extent()
        assert not any(box.overlaps(axes.get_window_extent()) for axes in figure.axes)
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1


def test_a_curve_on_top_of_another_leaves_it_visible():
    for family in (list(styles(NAMES).values()), shades(11)):
        widths = [style["linewidth"] for style in family]
        assert widths == sorted(widths, reverse=True)
        assert len(set(widths)) == len(widths)
        orders = [style["zorder"] for style in family]
        assert orders == sorted(orders)
    looks = {(str(style["linestyle"]), style["marker"]) for style in styles(NAMES).values()}
    assert len(looks) == len(NAMES)


def test_the_same_figure_gives_the_same_file(tmp_path):
    for name in ("one.svg", "two.svg"):
        save(drawn(above=True), tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_experiments_are_chosen_once_each_in_the_given_order():
    assert chosen_experiments("x3, x2,x3", ("x2", "x3", "x4")) == ["x3", "x2"]
    assert chosen_experiments("all", ("x2", "x3")) == ["x2", "x3"]
