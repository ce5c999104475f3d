"""A user's program with filters passes `mypy --strict`, and says where a type is wrong."""

import os
import subprocess
import sys

import pytest

from tests.architecture import user_program as program
from tests.architecture.tree import ROOT, SOURCE

PROGRAM = ROOT / "tests" / "architecture" / "user_program.py"
WRONG = [
    "boolcast.covers(cheap, 5)",
    "boolcast.explain(None, {})",
    'boolcast.Matcher().add("q", 5)',
    "cheap & 5",
]


@pytest.mark.slow
def test_filters_need_no_cast(tmp_path):
    right = PROGRAM.read_text(encoding="utf-8").splitlines()
    copy = tmp_path / "program.py"
    copy.write_text("\n".join([*right, *WRONG, ""]), encoding="utf-8")
    # Silent about Boolcast itself, as mypy is about a package that is installed.
    options = ["--strict", "--config-file=", "--follow-imports=silent"]
    cache = f"--cache-dir={ROOT / '.mypy_cache' / 'user'}"
    run = subprocess.run(
        [sys.executable, "-m", "mypy", *options, cache, copy.name],
        env={**os.environ, "MYPYPATH": str(SOURCE.parent)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    errors = [line for line in run.stdout.splitlines() if ": error:" in line]
    faulty = {int(line.split(":")[1]) for line in errors}
    assert faulty == {len(right) + 1 + index for index in range(len(WRONG))}, run.stdout


def test_the_program_runs():
    assert all(verdict.holds for verdict in program.proofs()[:4])
    assert program.shown()[0].startswith("accepted")
    assert program.matched() == ["cheap", "cheap"]
    assert [str(each) for each in program.rewritten()][2] == "price < 25"
    wanted, offered = program.routed()
    assert (wanted.filter, str(offered.filter)) == (program.cheap, "price < 25 or price < 20")
    assert program.is_filter(program.cheap)
    assert not program.is_filter("price < 25")
