"""One engine for many brokers says what an engine each would say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.errors import UnknownSubscriptionError
from boolcast.filters.parsing import parse
from boolcast.matching.scan import ScanMatcher
from boolcast.model.events import Event
from boolcast.simulation.network.shared_matching import SharedFilters, SharedMatcher
from boolcast.simulation.scenarios.histories import EVENTS, FILTERS

STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("add"), st.integers(0, 2), st.sampled_from("abcd"), st.sampled_from(FILTERS)
        ),
        st.tuples(st.just("remove"), st.integers(0, 2), st.sampled_from("abcd")),
        st.tuples(st.just("match"), st.sampled_from(EVENTS)),
    ),
    max_size=40,
)


@given(STEPS)
def test_it_agrees_with_scanning(steps):
    shared = SharedFilters()
    brokers = [(SharedMatcher(shared), ScanMatcher()) for _ in range(3)]
    for step in steps:
        match step:
            case "add", broker, name, filter:
                for engine in brokers[broker]:
                    engine.add(name, filter)
            case "remove", broker, name:
                if name in brokers[broker][0]:
                    for engine in brokers[broker]:
                        engine.remove(name)
            case "match", event:
                for engine, reference in brokers:
                    assert sorted(engine.match(event)) == sorted(reference.match(event))
                    assert len(engine) == len(reference)


def test_an_answer_is_forgotten_when_a_filter_comes_or_goes():
    shared = SharedFilters()
    engine, event = SharedMatcher(shared), Event(x=1)
    assert engine.match(event) == []
    engine.add("s", parse("x = 1"))
    assert engine.match(event) == ["s"]
    engine.remove("s")
    assert engine.match(event) == []
    with pytest.raises(UnknownSubscriptionError):
        engine.remove("s")
