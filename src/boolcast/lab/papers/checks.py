"""A paper's statement as data: what it says, what we found, whether the bound holds."""

import msgspec


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One statement; `number` is that in the paper's list of checks.

    `paper` and `ours` are figures as text.
    """

    number: int
    part: str
    name: str
    bound: str
    paper: str
    ours: str
    holds: bool
