"""The forms of filters and the index over them: nothing that covers is overlooked."""

from hypothesis import given
from hypothesis import strategies as st

from boolcast.algebra import covers, overlaps
from boolcast.filters.parsing import parse
from boolcast.routing.candidates import Candidates
from boolcast.routing.forms import Form, Forms
from boolcast.routing.graph import Node
from tests.strategies import filters

LEAVES = st.one_of(
    st.builds(lambda x: f"group = {x}", st.integers(0, 2)),
    st.builds(lambda x: f"type = '{x}'", st.sampled_from("ab")),
    st.builds(lambda x, w: f"x between {x} and {x + w}", st.integers(0, 9), st.integers(0, 4)),
    st.builds(lambda x: f"x < {x}", st.integers(0, 9)),
    st.builds(lambda y: f"y in ({y}, {y + 2})", st.integers(0, 4)),
    st.sampled_from(["flag = true", "flag = false", "t is null", "t is not null"]),
    st.sampled_from(["starts_with(t, 'a')", "t >= 'ab' and t < 'ac'"]),
)
CONJUNCTIONS = st.lists(LEAVES, min_size=1, max_size=4).map(" and ".join)


@given(texts=st.lists(CONJUNCTIONS, min_size=2, max_size=12), removed=st.sets(st.integers(0, 11)))
def test_every_covering_is_among_the_candidates(texts, removed):
    forms = Forms()
    nodes = [Node(forms.of(parse(text)), order) for order, text in enumerate(texts)]
    # A contradiction is never stored: nobody need know it.
    nodes = [node for node in nodes if not node.form.is_never]
    index: Candidates[Node] = Candidates()
    for node in nodes:
        index.add(node)
    for node in [node for node in nodes if node.order in removed]:
        index.remove(node)
    kept = [node for node in nodes if node.order not in removed]
    for node in nodes:
        form = node.form
        assert {each for each in kept if forms.covers(each.form, form)} <= set(index.covering(form))
        assert {each for each in kept if forms.covers(form, each.form)} <= set(index.covered(form))


@given(left=filters(small=True), right=filters(small=True))
def test_what_forms_say_is_sound(left, right):
    """R13: ranges may hide a covering and never invent one; overlaps the other way round."""
    forms = Forms()
    one, other = forms.of(left), forms.of(right)
    if forms.covers(one, other):
        assert covers(left, right)
    if not forms.overlaps(one, other):
        assert not overlaps(left, right)


@given(left=CONJUNCTIONS, right=CONJUNCTIONS)
def test_conjunctions_are_compared_completely(left, right):
    forms = Forms()
    one, other = forms.of(parse(left)), forms.of(parse(right))
    assert forms.covers(one, other) == bool(covers(one.filter, other.filter))
    assert forms.overlaps(one, other) == bool(overlaps(one.filter, other.filter))


def test_a_child_among_many_has_few_candidates():
    """The workload of P4-X1: one root and 500 children of equal width."""
    forms = Forms()
    index: Candidates[Node] = Candidates()

    def form(text: str) -> Form:
        return forms.of(parse(text))

    index.add(Node(form("group = 7"), 0))
    for low in range(500):
        text = f"group = 7 and x between {10 * low} and {10 * low + 100}"
        index.add(Node(form(text), low + 1))
    inside = form("group = 7 and x between 1000 and 1100")
    assert [node.order for node in index.covering(inside)] == [0, 101]
    assert [node.order for node in index.covered(inside)] == [101]
    assert [node.order for node in index.covered(form("group = 8"))] == []
    assert len(index.covered(form("group = 7"))) == 501
