"""Import contracts cannot see imports by name, so only one module has them (decision 45)."""

import ast
import subprocess
import sys

import pytest

from tests.architecture.tree import SOURCE, files

# The program starts here, and lets the laboratory above it add its commands.
ALLOWED = {"cli/__init__.py"}
IMPORTERS = {"import_module", "__import__"}


def imports_by_name(code: str) -> list[str]:
    """The calls that import a module of Boolcast, or one that only the running program knows."""
    return [
        ast.unparse(node)
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).rpartition(".")[2] in IMPORTERS
        and not is_foreign(node.args[0])
    ]


def is_foreign(name: ast.expr) -> bool:
    return (
        isinstance(name, ast.Constant)
        and isinstance(name.value, str)
        and name.value.partition(".")[0] not in {"", "boolcast"}
    )


def test_only_the_start_of_the_program_imports_a_room_by_name():
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in files(SOURCE, ".py")
        if imports_by_name(path.read_text())
    }
    assert found == ALLOWED


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import_module('boolcast.lab')", True),
        ("importlib.import_module('.lab', 'boolcast')", True),
        ("import_module(f'boolcast.{room}')", True),
        ("import_module(name)", True),
        ("__import__('boolcast')", True),
        ("import_module('duckdb')", False),
    ],
)
def test_an_import_by_name_is_found(code, found):
    assert bool(imports_by_name(code)) is found


@pytest.mark.parametrize(
    "module",
    ["boolcast.lab.commands", "boolcast.lab.benchmarks.command", "boolcast.cli.application"],
)
def test_either_room_can_be_imported_first(module):
    process = subprocess.run(
        [sys.executable, "-c", f"import {module}"], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
