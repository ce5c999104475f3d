"""Adds the laboratory's commands to the command line."""

import typer

from boolcast.lab.benchmarks.command import bench
from boolcast.lab.demo.command import demo
from boolcast.lab.papers.command import reproduce


def register(application: typer.Typer) -> None:
    """Add `demo`, `bench` and `reproduce`."""
    for commands in (demo, bench, reproduce):
        application.add_typer(commands)
