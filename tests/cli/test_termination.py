"""SIGTERM ends a command together with the processes that it has started."""

import signal
import subprocess
import sys
from pathlib import Path
from time import sleep

import pytest

from tests.cli.running import BOOLCAST, ENVIRONMENT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="children are found in /proc"),
]


def children_of(process: int) -> list[int]:
    return [
        int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()
    ]


def is_alive(process: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize(
    "arguments",
    [
        ["simulate", "--seeds", "1..20000", "--cores", "1"],
        ["simulate", "--seeds", "1..20000", "--cores", "2"],
        ["reproduce", "unsubscription", "--part", "x3", "--cores", "1"],
    ],
    ids=lambda arguments: f"{arguments[0]}-{arguments[-1]}",
)
def test_sigterm_ends_all(arguments):
    command = subprocess.Popen(
        [*BOOLCAST, *arguments],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    starts = 0 if arguments[:2] == ["simulate", "--seeds"] and arguments[-1] == "1" else 2
    try:
        while command.poll() is None and not has_begun(command.pid, starts):
            sleep(0.05)
        started = children_of(command.pid)
        command.send_signal(signal.SIGTERM)
        output, errors = command.communicate(timeout=60)
    finally:
        command.kill()
    assert (command.returncode, output, errors) == (143, b"", b"")
    while any(map(is_alive, started)):
        sleep(0.05)  # Until the time of the test is up.


def has_begun(process: int, children: int) -> bool:
    """True if it has started its processes, or else catches SIGTERM."""
    if children:
        return len(children_of(process)) >= children
    (line,) = [
        each
        for each in Path(f"/proc/{process}/status").read_text().splitlines()
        if each.startswith("SigCgt:")
    ]
    return bool(int(line.split()[1], 16) >> (signal.SIGTERM - 1) & 1)
