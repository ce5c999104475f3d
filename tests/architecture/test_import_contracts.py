"""The contracts of `[tool.importlinter]` hold, and they would notice if they did not."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT

LINT_IMPORTS = "from importlinter.cli import lint_imports_command; lint_imports_command()"


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the contracts of the `boolcast` under `folder`, whatever is installed."""
    path = f"import sys; sys.path.insert(0, {str(folder / 'src')!r}); "
    return subprocess.run(
        [sys.executable, "-c", path + LINT_IMPORTS, "--no-cache"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_contracts_hold():
    run = lint_imports(ROOT)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("errors", "import boolcast.model", "Imports point down only BROKEN"),
        ("filters/added", "from boolcast.algebra import covers", "Imports point down only BROKEN"),
        ("unplanned", "", "Imports point down only BROKEN"),
        (
            "pipeline/events/added",
            "from boolcast.pipeline.matching.matches import match",
            "Inside the pipeline imports point down only BROKEN",
        ),
        ("filters/added", "", "Imports point down inside filters BROKEN"),
        (
            "routing/core/publishing",
            "import boolcast.routing.core.reviewing",
            "Handlers of routing.core do not import each other, only what is below them BROKEN",
        ),
        (
            "lab/papers/pruning/report",
            "import boolcast.lab.papers.diagrams.report",
            "Papers know nothing of each other, only of what they share BROKEN",
        ),
        ("model/added", "import asyncio.queues", "from routing down BROKEN"),
        ("workloads/added", "def draw():\n    import random", "from routing down BROKEN"),
        ("algebra/added", "from time import perf_counter", "from routing down BROKEN"),
        ("model/added", "from boolcast import parse", "No room imports the public face BROKEN"),
    ],
)
@pytest.mark.slow
def test_a_violation_is_found(tmp_path, module, line, contract):
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "src", tmp_path / "src")
    with (tmp_path / "src" / "boolcast" / f"{module}.py").open("a") as file:
        file.write(f"\n{line}\n")
    run = lint_imports(tmp_path)
    assert run.returncode == 1
    assert contract in run.stdout
