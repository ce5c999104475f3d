"""What the tests of stores do in processes of their own, to be killed or to race.

`python -m tests.matching.victims <action> <folder>` runs one of `ACTIONS`. Processes are forked
there and not in the tests: pytest's process has threads.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from signal import SIGKILL

from boolcast.matching.store.snapshots import delete_old_versions, load, publish
from boolcast.matching.store.store import FolderStore
from tests.matching.faults import (
    AFTER,
    BEFORE,
    KILLED,
    NEW,
    OLD,
    POINTS,
    FaultyStore,
    MemoryStore,
    die,
    segment,
)
from tests.matching.saving import STARTS, filled

ROOT = Path(__file__).parents[2]


def run(action: str, folder: Path) -> None:
    """Run an action in a process of its own; it must be content and say nothing."""
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "tests.matching.victims", action, str(folder)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


def _publish_everywhere(folder: Path) -> None:
    """For every write of a publish and every point of it, a folder whose publisher died there."""
    for start in ("nothing", "old"):
        for point in POINTS:
            for at in range(1, sys.maxsize):
                victim = folder / f"{start}-{point}-{at}"
                victim.mkdir()
                if start == "old":
                    publish(FolderStore(victim), OLD, b"old")
                faulty = FaultyStore(FolderStore(victim), at, die, point=point)
                if _forked(partial(publish, faulty, NEW, b"new")) == 0:
                    shutil.rmtree(victim)
                    break


def _collect_everywhere(folder: Path) -> None:
    """For each deletion, a folder where the process died just before or just after it."""
    for point in (BEFORE, AFTER):
        for at in range(1, sys.maxsize):
            victim = folder / f"{point}-{at}"
            store = FolderStore(victim)
            publish(store, OLD, b"old")
            publish(store, NEW, b"new")
            faulty = FaultyStore(store, at, die, point=point)
            if _forked(partial(delete_old_versions, faulty, keep=1)) == 0:
                shutil.rmtree(victim)
                break


def _save_everywhere(folder: Path) -> None:
    """For every write of a save and every point of it, a folder whose saver died there."""
    for start, (earlier, make) in STARTS.items():
        matcher = make()
        # What every victim begins with; made once, for there are hundreds of them.
        begin = folder / "begin"
        begin.mkdir()
        if earlier is not None:
            filled(earlier).save(begin)
        # So that the kernels are there, and not every child reads them anew.
        make().save(MemoryStore())
        for point in POINTS:
            for at in range(1, sys.maxsize):
                victim = folder / f"{start}-{point}-{at}"
                shutil.copytree(begin, victim)
                faulty = FaultyStore(FolderStore(victim), at, die, point=point)
                if _forked(partial(matcher.save, faulty)) == 0:
                    shutil.rmtree(victim)
                    break
        shutil.rmtree(begin)


RACES = 2, 20
"""How many publishers race, and how often each publishes."""


def _race(folder: Path) -> None:
    """Several publishers at the same time; nobody collects."""
    publishers = [_fork(partial(_publish_often, folder, who)) for who in range(RACES[0])]
    sys.exit(max(map(_wait, publishers)))


def _race_with_collector(folder: Path) -> None:
    """The same beside a collector and a reader; everything that is seen must be whole."""
    store = FolderStore(folder)
    publish(store, OLD, b"old")

    def collect_and_load() -> None:
        while True:
            delete_old_versions(store, keep=1)
            load(store)

    collector = _fork(collect_and_load)
    publishers = [_fork(partial(_publish_often, folder, who)) for who in range(RACES[0])]
    failed = max(map(_wait, publishers))
    os.kill(collector, SIGKILL)
    sys.exit(failed or _wait(collector) != -SIGKILL)


def _publish_often(folder: Path, who: int) -> None:
    store = FolderStore(folder)
    for turn in range(RACES[1]):
        # A segment that comes and goes, one that stays, and one that is always new.
        changing = [segment(2)] * (turn % 2) + [segment(1), segment(10 + who * 100 + turn)]
        publish(store, changing, f"{who} {turn}".encode())
        load(store)


def _fork(action: Callable[[], object]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        action()
    except BaseException as error:  # noqa: BLE001 a forked child must not run its parent's code
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
        os._exit(1)
    os._exit(0)


def _wait(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _forked(action: Callable[[], object]) -> int:
    code = _wait(_fork(action))
    assert code in {0, KILLED}, code
    return code


ACTIONS = {
    "publish-everywhere": _publish_everywhere,
    "collect-everywhere": _collect_everywhere,
    "save-everywhere": _save_everywhere,
    "race": _race,
    "race-with-collector": _race_with_collector,
}

if __name__ == "__main__":
    ACTIONS[sys.argv[1]](Path(sys.argv[2]))
