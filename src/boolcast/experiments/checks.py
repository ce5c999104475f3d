"""A paper's statement beside what we found, as data."""

import msgspec


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One statement; `number` is that of the paper's checks, `paper` and `ours` figures as text."""

    number: int
    part: str
    name: str
    bound: str
    paper: str
    ours: str
    holds: bool
