"""A module holds one idea: past 500 lines it holds two. Its docstring says which."""

import ast

import pytest

from tests.architecture.tree import SOURCE, files, name_of

LONGEST = 500


@pytest.mark.parametrize("path", files(SOURCE, ".py"), ids=name_of)
def test_a_module_is_short_and_says_what_it_is(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LONGEST
    assert ast.get_docstring(ast.parse(text))
