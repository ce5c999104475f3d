"""Where the repository's files are, for the tests that look at them as text."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "boolcast"
CODE = [
    folder
    for name in ("src", "tests", "benchmarks", "examples")
    if (folder := ROOT / name).is_dir()
]

# Kept beside the sources and never part of a commit; `.venv` and the caches begin with a dot.
_UNTRACKED = {"__pycache__", "boolcast-demo", "build", "dist"}


def files(folder: Path, *suffixes: str) -> list[Path]:
    """The files under `folder` that would be committed, sorted; of the given suffixes, or all.

    Dotted folders are left out but for `.ci`. It asks no git, so that it also works in a tarball.
    """
    found = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [
            name
            for name in folders
            if name not in _UNTRACKED and (name == ".ci" or not name.startswith("."))
        ]
        # In a worktree `.git` is a file.
        found += [Path(parent, name) for name in names if name != ".git"]
    return sorted(path for path in found if not suffixes or path.suffix in suffixes)


def name_of(path: Path) -> str:
    """The path as a test id: relative to the repository, with forward slashes."""
    return path.relative_to(ROOT).as_posix()
