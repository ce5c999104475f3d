"""Optional packages: if one is missing, say what to install."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from boolcast.errors import UsageError

_SPARK: Final = frozenset({"fsspec", "pandas", "pyspark"})


@contextmanager
def needing_spark() -> Iterator[None]:
    """A block for imports that need Spark. Raises UsageError if it is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _SPARK:
            raise
        raise UsageError(f"{package} is not installed: pip install 'boolcast[spark]'") from None


def check_matplotlib() -> None:
    """Raise UsageError if matplotlib is not installed."""
    from importlib.util import find_spec  # noqa: PLC0415 - for one option

    if find_spec("matplotlib") is None:
        raise UsageError("--plot needs matplotlib: pip install 'boolcast[report]'")
