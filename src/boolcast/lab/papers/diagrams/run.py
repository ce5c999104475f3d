"""The experiments of P2 on decision diagrams: which runs each has, and at which size (P2-X6)."""

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Final, assert_never

import msgspec

from boolcast.lab.papers.checks import Check
from boolcast.lab.papers.diagrams.checks import checks
from boolcast.lab.papers.diagrams.imt import ImtFigures, ImtSetting, imt_figures
from boolcast.lab.papers.diagrams.insertion import (
    InsertionFigures,
    InsertionSetting,
    insertion_figures,
)
from boolcast.lab.papers.diagrams.tables import (
    FULL,
    SetName,
    TableFigures,
    TableSetting,
    table_figures,
)

Setting = TableSetting | InsertionSetting | ImtSetting
RunFigures = TableFigures | InsertionFigures | ImtFigures

FIGURES: Final[msgspec.json.Decoder[RunFigures]] = msgspec.json.Decoder(RunFigures)

_SETS: Final[tuple[SetName, ...]] = ("A", "B")
_EVENTS: Final = 50_000
_SAMPLES: Final = 100
_ORDERS: Final = 5
_IMT_SUBSCRIPTIONS: Final = 100_000


class Part(StrEnum):
    """The experiments: P2-X2 with P2-X3, orders of attributes, P2-X4, and P2-X5."""

    TABLES = "tables"
    ORDERS = "orders"
    INSERTION = "insertion"
    IMT = "imt"


class Report(msgspec.Struct, frozen=True):
    """All runs, and what they say about the paper's statements."""

    scale: float
    seed: int
    runs: list[RunFigures]
    checks: list[Check]


def settings(parts: Iterable[Part], *, scale: float, seed: int) -> list[Setting]:
    """The runs of these experiments, the longest first."""
    found: list[Setting] = []
    for part in parts:
        found += _SETTINGS[part](scale, seed)
    return sorted(found, key=lambda each: -each.work)


def _tables(scale: float, seed: int) -> list[Setting]:
    return [_table(name, scale, seed) for name in _SETS]


def _orders(scale: float, seed: int) -> list[Setting]:
    numbers = range(1, _ORDERS + 1)
    return [_table(name, scale, seed, number) for name in _SETS for number in numbers]


def _table(name: SetName, scale: float, seed: int, shuffle: int = 0) -> TableSetting:
    return TableSetting(
        set=name,
        subscriptions=round(FULL * scale),
        events=max(round(_EVENTS * scale), 1),
        seed=seed,
        shuffle=shuffle,
    )


def _insertion(scale: float, seed: int) -> list[Setting]:
    count = round(FULL * scale)
    samples = max(round(_SAMPLES * scale), 1)
    return [
        InsertionSetting(set=name, subscriptions=count, samples=samples, seed=seed)
        for name in _SETS
    ]


def _imt(scale: float, seed: int) -> list[Setting]:
    return [
        ImtSetting(
            set="A",
            subscriptions=round(_IMT_SUBSCRIPTIONS * scale),
            events=max(round(_EVENTS * scale), 1),
            seed=seed,
            advertised=advertised,
        )
        for advertised in (False, True)
    ]


_SETTINGS: Final[dict[Part, Callable[[float, int], list[Setting]]]] = {
    Part.TABLES: _tables,
    Part.ORDERS: _orders,
    Part.INSERTION: _insertion,
    Part.IMT: _imt,
}


def run(setting: Setting) -> RunFigures:
    """Run one in this process."""
    match setting:
        case TableSetting():
            return table_figures(setting)
        case InsertionSetting():
            return insertion_figures(setting)
        case ImtSetting():
            return imt_figures(setting)
    assert_never(setting)


def report(runs: list[RunFigures], *, scale: float, seed: int) -> Report:
    """The runs with the checks of those experiments that are among them."""
    return Report(scale, seed, runs, checks(runs))
