"""Processor time of a process and its children; Spark works in several processes."""

import os
from pathlib import Path


def tree_seconds(root: int) -> float | None:
    """The processor time of a process and its descendants, including those that have ended.

    None if the system has no /proc.
    """
    ticks = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 0
    times: dict[int, tuple[int, int]] = {}
    try:
        folders = [each for each in Path("/proc").iterdir() if each.name.isdigit()]
    except OSError:
        return None
    for folder in folders:
        try:
            text = (folder / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue  # ended meanwhile
        # The name in parentheses may contain anything, so count from behind it.
        fields = text.rpartition(")")[2].split()
        spent = sum(int(field) for field in fields[11:15])
        times[int(folder.name)] = (int(fields[1]), spent)
    children: dict[int, list[int]] = {}
    for process, (parent, _) in times.items():
        children.setdefault(parent, []).append(process)
    total, waiting = 0, [root]
    while waiting:
        process = waiting.pop()
        total += times.get(process, (0, 0))[1]
        waiting += children.get(process, [])
    return total / ticks if times else None
