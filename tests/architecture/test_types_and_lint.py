"""What `make check` checks fails the tests too."""

import subprocess
import sys

import pytest

from tests.architecture.tree import CODE, ROOT


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "format", "--check"],
        ["ruff", "check"],
        pytest.param(["mypy"], marks=pytest.mark.slow),
    ],
    ids=" ".join,
)
def test_it_passes(command):
    run = subprocess.run(
        [sys.executable, "-m", *command, *CODE],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
