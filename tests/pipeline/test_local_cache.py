import mmap
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from boolcast.pipeline.spark.local_cache import GRACE_SECONDS, LocalCache


def write(data: bytes):
    def fetch(path: Path) -> None:
        path.write_bytes(data)

    return fetch


def must_not_fetch(path: Path) -> None:
    raise AssertionError(path)


def aged(path: Path, seconds: float) -> Path:
    then = time.time() - seconds
    os.utime(path, (then, then))
    return path


@pytest.fixture
def cache(tmp_path) -> LocalCache:
    return LocalCache(tmp_path / "not" / "yet", limit=250)


def test_a_copy_is_fetched_once(cache):
    path = cache.path("a", write(b"bytes"))
    assert path.read_bytes() == b"bytes"
    assert cache.path("a", must_not_fetch) == path
    cache.forget("a")
    assert cache.path("a", write(b"new")).read_bytes() == b"new"
    assert list(cache.folder.iterdir()) == [path]


def test_what_fails_leaves_nothing(cache):
    def fail(path: Path) -> None:
        path.write_bytes(b"half")
        raise ConnectionError

    with pytest.raises(ConnectionError):
        cache.path("a", fail)
    assert list(cache.folder.iterdir()) == []
    assert cache.path("a", write(b"whole")).read_bytes() == b"whole"


def test_nobody_sees_half_a_copy(cache):
    def fetch(path: Path) -> None:
        path.write_bytes(b"half")
        assert not (cache.folder / "a").exists()
        path.write_bytes(b"whole")

    assert cache.path("a", fetch).read_bytes() == b"whole"


def test_those_used_longest_ago_go(cache):
    old = GRACE_SECONDS + 100
    for age, key in enumerate("abc"):
        aged(cache.path(key, write(bytes(80))), old - age)
    cache.path("a", must_not_fetch)
    aged(cache.folder / "a", old - 9)
    cache.path("d", write(bytes(80)))
    assert sorted(path.name for path in cache.folder.iterdir()) == ["a", "c", "d"]


def test_what_is_in_use_stays(cache):
    for key in "abcd":
        cache.path(key, write(bytes(80)))
    assert len(list(cache.folder.iterdir())) == 4
    # Until it is no longer in use, and another comes.
    for key in "abcd":
        aged(cache.folder / key, GRACE_SECONDS + 1)
    cache.path("e", write(bytes(80)))
    assert len(list(cache.folder.iterdir())) == 3


def test_what_a_killed_process_left_goes_too(cache):
    cache.path("a", write(b""))
    left = cache.folder / "b.partial"
    left.write_bytes(bytes(300))
    aged(left, GRACE_SECONDS + 1)
    cache.path("c", write(b""))
    assert not left.exists()


def test_what_another_is_fetching_stays(cache):
    started, go = threading.Event(), threading.Event()

    def slowly(path: Path) -> None:
        path.write_bytes(bytes(300))
        aged(path, GRACE_SECONDS + 1)
        started.set()
        go.wait()

    thread = threading.Thread(target=cache.path, args=("a", slowly), daemon=True)
    thread.start()
    started.wait()
    cache.path("b", write(b""))
    assert (cache.folder / "a.partial").exists()
    go.set()
    thread.join()
    assert (cache.folder / "a").stat().st_size == 300


def test_those_who_want_the_same_wait_for_the_first(cache):
    fetched: list[int] = []
    paths: list[Path] = []

    def fetch(path: Path) -> None:
        fetched.append(1)
        time.sleep(0.1)
        path.write_bytes(b"bytes")

    def want() -> None:
        paths.append(cache.path("a", fetch))

    threads = [threading.Thread(target=want) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(fetched) == 1
    assert paths == [cache.folder / "a"] * 8


def test_a_process_that_dies_lets_the_others_go_on(cache):
    program = (
        "import os, sys, time; from pathlib import Path; "
        "from boolcast.pipeline.spark.local_cache import LocalCache; "
        "fetch = lambda path: (path.write_bytes(b'half'), print(flush=True), time.sleep(60)); "
        "LocalCache(Path(sys.argv[1]), 250).path('a', fetch)"
    )
    command = [sys.executable, "-c", program, str(cache.folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert (cache.folder / "a.partial").read_bytes() == b"half"
        process.send_signal(signal.SIGKILL)
    assert cache.path("a", write(b"whole")).read_bytes() == b"whole"
    assert [path.name for path in cache.folder.iterdir()] == ["a"]


def test_a_mapped_copy_outlives_its_name(cache):
    path = cache.path("a", write(b"bytes"))
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        aged(path, GRACE_SECONDS + 1)
        cache.path("b", write(bytes(300)))
        assert not path.exists()
        assert mapped[:] == b"bytes"
