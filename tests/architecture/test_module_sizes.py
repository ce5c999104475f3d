"""A module holds one idea: past 500 lines it holds two. Its docstring says which."""

import ast

from tests.architecture.tree import SOURCE, files, name_of

LONGEST = 500


def test_a_module_is_short_and_says_what_it_is():
    texts = {name_of(path): path.read_text(encoding="utf-8") for path in files(SOURCE, ".py")}
    assert [name for name, text in texts.items() if len(text.splitlines()) > LONGEST] == []
    assert [name for name, text in texts.items() if not ast.get_docstring(ast.parse(text))] == []
