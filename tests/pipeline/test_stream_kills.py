"""Killed at any moment, by SIGKILL, a stream loses and doubles nothing."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from boolcast.pipeline import read_batches
from tests.pipeline.streams import Scene, event

FILE_EVENTS = 40
BACKLOG_EVENTS = 20 * FILE_EVENTS


class Victim:
    """A running driver of the scene's stream, with its JVM and what that has started."""

    def __init__(self, scene: Scene, master: str, form: str) -> None:
        (scene.folder / "pids").unlink(missing_ok=True)
        self._log = (scene.folder / "log").open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.pipeline.stream_driver", scene.folder, master, form],
            stdout=self._log,
            stderr=self._log,
        )
        self.jvm = 0

        def is_up() -> bool:
            assert self.process.poll() is None, (scene.folder / "log").read_text()
            return (scene.folder / "pids").exists()

        wait_for(is_up)
        self.jvm = json.loads((scene.folder / "pids").read_text())[1]

    def kill(self, *pids: int) -> None:
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def end(self) -> int:
        """Wait for the driver; end what is left of it."""
        code = self.process.wait(120)
        below = descendants(self.jvm)
        self.kill(self.jvm, *below)
        wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in (self.jvm, *below)))
        self._log.close()
        return code


def wait_for(condition: Callable[[], bool], seconds: float = 900.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.02)


def descendants(pid: int) -> list[int]:
    """All processes below one, nearest first."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found = list(parents.get(pid, []))
    for each in found:
        found += parents.get(each, [])
    return found


def commands(pids: list[int], word: str) -> list[int]:
    """Those of the processes whose command line has the word."""

    def line(pid: int) -> str:
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
        except OSError:
            return ""

    return [pid for pid in pids if word in line(pid)]


class Trial:
    """Feeds a stream with events and versions, kills what runs it, and looks at what is left."""

    def __init__(self, folder: Path, master: str, seed: int, form: str = "json") -> None:
        self.scene = Scene(folder)
        self.master = master
        self.form = form
        self.random = random.Random(seed)
        self.files = 0
        self.scene.save(cheap="price < 10")

    def feed(self) -> None:
        """Add events and perhaps a version, unless the stream is far behind."""
        if self.files * FILE_EVENTS - self.matched() > BACKLOG_EVENTS:
            return
        for _ in range(self.random.randint(1, 4)):
            first = self.files * FILE_EVENTS
            events = map(event, range(first, first + FILE_EVENTS))
            if self.form == "parquet":
                self.scene.put_table(f"{self.files:06}", pa.Table.from_pylist(list(events)))
            else:
                self.scene.put(f"{self.files:06}", events)
            self.files += 1
        if self.random.random() < 0.5:
            limit = self.random.randint(1, 50)
            self.scene.save(cheap=f"price < {limit}", other=f"title = 'title {limit % 7}'")

    def matched(self) -> int:
        return sum(batch.events for batch in read_batches(self.scene.output))

    def published(self) -> int:
        return len(list(read_batches(self.scene.output)))

    def live(self, victim: Victim, seconds: float) -> None:
        """Feed for so long, once the driver has published something."""
        before = self.published()
        self.feed()
        wait_for(lambda: self.published() > before or victim.process.poll() is not None)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.feed()
            time.sleep(min(0.1, max(end - time.monotonic(), 0)))

    def catch_up(self, victim: Victim) -> None:
        """As long as it gets on at all: how fast is not the matter here."""
        while victim.process.poll() is None and self.matched() < self.files * FILE_EVENTS:
            before = self.published()
            wait_for(
                lambda seen=before: (  # type: ignore[misc]
                    self.published() > seen or victim.process.poll() is not None
                )
            )

    def kill(self, victim: Victim, kind: str) -> bool:
        """Kill something of the victim's; True if the driver is dead or dying of it."""
        below = descendants(victim.jvm)
        match kind:
            case "driver and JVM":
                victim.kill(victim.process.pid, victim.jvm)
                return True
            case "driver before JVM":
                victim.kill(victim.process.pid)
                time.sleep(self.random.uniform(0, 1))
                return True
            case "JVM":
                victim.kill(victim.jvm)
                return True
            case "Python worker":
                workers = [pid for pid in commands(below, "pyspark.daemon") if pid in below[1:]]
                victim.kill(*workers[-1:])
                return False
            case "executor":
                executors = commands(below, "CoarseGrainedExecutorBackend")
                victim.kill(self.random.choice(executors))
                return False
            case _:
                raise AssertionError(kind)

    def check(self) -> None:
        """Whole batches only, each event once at most."""
        files = sorted({row["id"] // FILE_EVENTS for row in self.scene.rows()})
        numbers = [
            number
            for each in files
            for number in range(each * FILE_EVENTS, each * FILE_EVENTS + FILE_EVENTS)
        ]
        self.scene.verify(self.scene.rows(), numbers)

    def run(self, kinds: list[str]) -> None:
        victim: Victim | None = None
        try:
            for kind in kinds:
                victim = victim or Victim(self.scene, self.master, self.form)
                self.live(victim, self.random.uniform(0, 2.5))
                if self.kill(victim, kind):
                    assert victim.end() != 0
                    victim = None
                self.check()
            victim = victim or Victim(self.scene, self.master, self.form)
            self.live(victim, 0.5)
            self.catch_up(victim)
            (self.scene.folder / "stop").touch()
            assert victim.end() == 0, (self.scene.folder / "log").read_text()
            victim = None
        finally:
            if victim is not None:
                victim.kill(victim.process.pid)
                victim.end()
        self.scene.verify(self.scene.rows(), range(self.files * FILE_EVENTS))
        assert len({batch.version for batch in read_batches(self.scene.output)}) > 2


@pytest.mark.timeout(900)
@pytest.mark.parametrize("form", ["json", pytest.param("parquet", marks=pytest.mark.long)])
def test_three_kills(tmp_path, form):
    trial = Trial(tmp_path, "local[2,4]", seed=4, form=form)
    trial.run(["Python worker", "driver and JVM", "driver before JVM"])


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("seed", "form"), [(20, "json"), (21, "parquet")])
def test_twenty_kills(tmp_path, seed, form):
    kinds = ["driver and JVM", "driver before JVM", "JVM", "Python worker"]
    trial = Trial(tmp_path, "local[2,4]", seed, form)
    trial.run([trial.random.choice(kinds) for _ in range(20)])


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_executors_are_killed(tmp_path):
    trial = Trial(tmp_path, "local-cluster[2,1,512]", seed=7)
    trial.run(["executor", "Python worker", "executor", "driver and JVM", "executor"])
