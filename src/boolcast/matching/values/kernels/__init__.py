"""Compiled functions over sorted constants and integer arrays.

The modules import numba, which takes half a second, so callers import them inside the function
that first needs a kernel. This file loads no numba: it holds what kernels and callers share.
"""

from typing import Final

BEFORE: Final = 1
AFTER: Final = 2
"""Flags of a string constant: a boundary lies before it, after it, or both."""
