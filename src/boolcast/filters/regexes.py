r"""Regular expressions of `matches`: RE2, so that no pattern can take exponential time.

A search takes time in proportion to the text times, at worst, the size of the compiled
expression, and to compile takes time in proportion to that size, which short patterns can
make large: `\pL` stands for hundreds of ranges, `{1000}` for a thousand copies. Hence the
bounds here.
"""

import re
from functools import lru_cache
from typing import Any, Final

_SIZE_BYTES: Final = 1 << 19
"""How large a compiled expression may be. To find out takes milliseconds at most."""

_MEMORY_BYTES: Final = 1 << 23
"""What an expression may take while it searches; with less, RE2 falls back to a slow way."""

_UNICODE_CLASSES: Final = 32
"""How many of them an expression may name: RE2 takes 80 µs to read each."""

_UNICODE_CLASS: Final = re.compile(r"\\[pP]")


@lru_cache(maxsize=512)
def compile_regex(pattern: str) -> Any:
    """Compile a pattern. Raises ValueError with RE2's reason, also where it grows too large."""
    import re2  # noqa: PLC0415 - 20 ms that only users of `matches` should pay

    if len(_UNICODE_CLASS.findall(pattern)) > _UNICODE_CLASSES:
        raise ValueError(
            f"a regular expression has at most {_UNICODE_CLASSES} classes such as \\pL"
        )
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    try:
        options.max_mem = _SIZE_BYTES
        re2.compile(pattern, options)
        options.max_mem = _MEMORY_BYTES
        return re2.compile(pattern, options)
    except re2.error as error:
        (reason,) = error.args
        text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        shown = text if len(text) <= 80 else text[:79] + "…"
        raise ValueError(f"not a regular expression that RE2 takes: {shown}") from None
