"""The public face is frozen: whoever adds or removes a name does it here too, knowingly."""

import inspect

import pytest

import boolcast

NAMES = [
    "Filter",
    "Matcher",
    "Schema",
    "Timestamp",
    "Verdict",
    "__version__",
    "covers",
    "disjoint",
    "equivalent",
    "errors",
    "explain",
    "lint",
    "overlaps",
    "parse",
    "simplify",
]


def test_exactly_these_names_are_public():
    assert sorted(boolcast.__all__) == NAMES


def test_the_face_is_small():
    assert len(boolcast.__all__) <= 15


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_exists_and_has_its_own_docstring(name):
    value = getattr(boolcast, name)
    if inspect.isclass(value):
        # Not inspect.getdoc, which would be content with a base class's docstring.
        assert value.__dict__.get("__doc__")
    elif callable(value) or inspect.ismodule(value):
        assert value.__doc__
