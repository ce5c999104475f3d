"""Regular expressions of `matches`: RE2, so that no pattern can take exponential time."""

from functools import lru_cache
from typing import Any


@lru_cache(maxsize=4096)
def compile_regex(pattern: str) -> Any:
    """Compile a pattern. Raises ValueError with RE2's reason, also where it grows too large."""
    import re2  # noqa: PLC0415 - 20 ms that only users of `matches` should pay

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        (reason,) = error.args
        text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise ValueError(f"not a regular expression that RE2 takes: {text}") from None
