"""Kernels are compiled once in an installation, wherever it can be written, and work anywhere."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

import boolcast

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

FIRST_MATCH = """
import sys
from boolcast import Matcher
from boolcast.matching.values.kernels import compiling
compiling.PATIENCE_S = float(sys.argv[1])
matcher = Matcher()
matcher.add("s", "a = 1 and b like 'x%'")
matcher.merge()
assert matcher.match({"a": 1, "b": "xy"}) == ["s"]
from boolcast.matching.segment.kernels.access import match_event
stats = match_event.stats
print(stats.cache_path, sum(stats.cache_hits.values()), sum(stats.cache_misses.values()), sep="\\n")
"""
READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"'
FULL = 'mount -t tmpfs -o size=8k none "$1" && shift && exec "$@"'

ANNOUNCEMENT = "boolcast: compiling the match kernels, once in an installation …"
WARNING = "boolcast: compiled kernels cannot be kept here"


class Run(NamedTuple):
    """What a process with a first match told."""

    cache: str
    hits: int
    misses: int
    errors: list[str]


class Installation:
    """A copy of the package, and a command under which processes see it as it is to be."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.wrapper: Sequence[str] = ()
        source = Path(boolcast.__file__).parent
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source, folder / "boolcast", ignore=ignored)

    def match(self, cache: Path, *, patience_s: float, **more: str) -> Run:
        """Run the first match of a process, with this folder as the user's cache."""
        environment: Mapping[str, str] = {
            **{name: text for name, text in os.environ.items() if not name.startswith("NUMBA")},
            "HOME": str(cache),
            "XDG_CACHE_HOME": str(cache),
            "PYTHONPATH": str(self.folder),
            "PYTHONDONTWRITEBYTECODE": "1",
            **more,
        }
        command = [*self.wrapper, sys.executable, "-c", FIRST_MATCH, str(patience_s)]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, encoding="utf-8", check=False
        )
        assert done.returncode == 0, done.stderr
        place, hits, misses = done.stdout.splitlines()
        return Run(place, int(hits), int(misses), done.stderr.splitlines())


def with_a_file_in_place_of_the_cache(installation: Installation) -> None:
    """What numba tries is to make a folder and a file in it: this fails for root as well."""
    for kernels in installation.folder.glob("boolcast/matching/*/kernels"):
        (kernels / "__pycache__").write_text("")


def in_a_read_only_mount(installation: Installation) -> None:
    installation.wrapper = in_namespace(READ_ONLY, installation.folder)


def in_namespace(script: str, folder: Path) -> list[str]:
    """The command that runs another one where the folder is mounted so, if that can be done."""
    wrapper = ["unshare", "-rm", "sh", "-c", script, "sh", str(folder)]
    if not shutil.which("unshare") or subprocess.run([*wrapper, "true"], check=False).returncode:
        pytest.skip("`unshare -rm` cannot mount here")
    return wrapper


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    return Installation(tmp_path / "site")


@pytest.fixture(params=[with_a_file_in_place_of_the_cache, in_a_read_only_mount])
def locked(request: pytest.FixtureRequest, installation: Installation) -> Installation:
    """An installation that cannot be written."""
    lock: Callable[[Installation], None] = request.param
    lock(installation)
    return installation


def test_beside_the_package_where_that_can_be_written(installation, tmp_path):
    first = installation.match(tmp_path / "cache", patience_s=0.05)
    assert (first.hits, first.misses) == (0, 1)
    assert first.cache == str(tmp_path / "site/boolcast/matching/segment/kernels/__pycache__")
    assert first.errors == [ANNOUNCEMENT]
    second = installation.match(tmp_path / "cache", patience_s=0)
    assert second == Run(first.cache, hits=1, misses=0, errors=[])


def test_in_the_users_cache_where_the_installation_is_read_only(locked, tmp_path):
    first = locked.match(tmp_path / "cache", patience_s=0.05)
    assert (first.hits, first.misses) == (0, 1)
    assert first.cache.startswith(str(tmp_path / "cache"))
    assert first.errors == [ANNOUNCEMENT]
    second = locked.match(tmp_path / "cache", patience_s=0)
    assert second == Run(first.cache, hits=1, misses=0, errors=[])


def test_nowhere_where_nothing_can_be_written(locked):
    nowhere = Path("/dev/null/nowhere")
    run = locked.match(nowhere, patience_s=60)
    assert (run.cache, run.hits) == ("None", 0)
    [warning] = run.errors
    assert warning.startswith(WARNING)
    assert "NUMBA_CACHE_DIR" in warning


def test_nowhere_where_the_disk_is_full(installation, tmp_path):
    full = tmp_path / "full"
    full.mkdir()
    installation.wrapper = in_namespace(FULL, full)
    run = installation.match(tmp_path, patience_s=60, NUMBA_CACHE_DIR=str(full))
    assert run.misses == 1
    [warning] = run.errors
    assert warning.startswith(WARNING)
