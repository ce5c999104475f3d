"""The commands of the laboratory, and where the command line gets them."""

import typer

from boolcast.lab.benchmarks.command import bench
from boolcast.lab.demo.command import demo
from boolcast.lab.papers.command import reproduce


def register(application: typer.Typer) -> None:
    """Add `demo`, `bench` and `reproduce` to the command line."""
    for commands in (demo, bench, reproduce):
        application.add_typer(commands)
