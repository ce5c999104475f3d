"""The experiments of P2 on decision diagrams: the runs of each, and their sizes (P2-X6)."""

from collections.abc import Mapping
from typing import Final, assert_never

import msgspec

from boolcast.lab.papers.diagrams.imt import ImtFigures, ImtSetting, imt_figures
from boolcast.lab.papers.diagrams.insertion import (
    InsertionFigures,
    InsertionSetting,
    insertion_figures,
)
from boolcast.lab.papers.diagrams.tables import TableFigures, TableSetting, table_figures
from boolcast.lab.papers.diagrams.workload import FULL, SetName
from boolcast.lab.papers.runs import Experiment

Setting = TableSetting | InsertionSetting | ImtSetting
RunFigures = TableFigures | InsertionFigures | ImtFigures

FIGURES: Final[msgspec.json.Decoder[RunFigures]] = msgspec.json.Decoder(RunFigures)

_SETS: Final[tuple[SetName, ...]] = ("A", "B")
_EVENTS: Final = 50_000
_SAMPLES: Final = 100
_ORDERS: Final = 5
_IMT_SUBSCRIPTIONS: Final = 100_000


def _tables(*, scale: float, seed: int) -> list[Setting]:
    return [_table(name, scale, seed) for name in _SETS]


def _orders(*, scale: float, seed: int) -> list[Setting]:
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


def _insertion(*, scale: float, seed: int) -> list[Setting]:
    count = round(FULL * scale)
    samples = max(round(_SAMPLES * scale), 1)
    return [
        InsertionSetting(set=name, subscriptions=count, samples=samples, seed=seed)
        for name in _SETS
    ]


def _imt(*, scale: float, seed: int) -> list[Setting]:
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


EXPERIMENTS: Final[Mapping[str, Experiment[Setting]]] = {
    "tables": _tables,
    "orders": _orders,
    "insertion": _insertion,
    "imt": _imt,
}
"""P2-X2 with P2-X3, orders of attributes, P2-X4, and P2-X5."""


def run(setting: Setting) -> RunFigures:
    """Carry out one run in this process."""
    match setting:
        case TableSetting():
            return table_figures(setting)
        case InsertionSetting():
            return insertion_figures(setting)
        case ImtSetting():
            return imt_figures(setting)
    assert_never(setting)
