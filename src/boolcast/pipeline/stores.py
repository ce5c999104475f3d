"""Stores by the place that a user names."""

import os
from pathlib import Path
from typing import TypeAlias

from boolcast.matching.store import FolderStore, Store

Place: TypeAlias = "str | os.PathLike[str] | Store"
"""Where an index is: a folder that driver and executors share, or a store."""


def open_store(place: Place) -> Store:
    """The store at the place. It travels to executors, so a folder is told absolutely."""
    if isinstance(place, str | os.PathLike):
        return FolderStore(Path(place).absolute())
    return place
