"""How all reproductions are run and shown: a folder, tables or JSON, Parquet, plots, checks."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Generic, Protocol, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console

from boolcast.cli.output import json_line, write, write_error, write_json
from boolcast.cli.progress import shares
from boolcast.cli.tables import WIDTH, QuietConsole
from boolcast.errors import FileError
from boolcast.experiments.checks import Check
from boolcast.experiments.reproduction import R, Runner, S, reproduce

Rows = list[dict[str, object]]


class _Report(Protocol):
    @property
    def checks(self) -> Sequence[Check]: ...


M = TypeVar("M", bound=_Report)
M_co = TypeVar("M_co", bound=_Report, covariant=True)


class _MakesReport(Protocol[R, M_co]):
    def __call__(self, runs: list[R], *, scale: float, seed: int) -> M_co: ...


class Reproduction(msgspec.Struct, Generic[R, M], frozen=True, kw_only=True):
    """What becomes of the figures of runs.

    `report` puts them together, `rows` become Parquet files with these names; the module `plots`
    has a function `draw` that writes into a folder, and is imported only where there is matplotlib.
    """

    figures: msgspec.json.Decoder[R]
    report: _MakesReport[R, M]
    tables: Callable[[M, Console], None]
    rows: Callable[[M], Mapping[str, Rows]]
    plots: str


def show(
    reproduction: Reproduction[R, M],
    chosen: Sequence[S],
    runner: Callable[[Path], Runner[S, R]],
    *,
    scale: float,
    seed: int,
    output: str | None,
    as_json: bool,
) -> bool:
    """Run what is not in the folder yet, and write; False if a check does not hold."""
    with _folder(output) as folder:
        with shares("reproducing") as tell:
            runs = reproduce(chosen, runner(folder), reproduction.figures, folder, tell)
        report = reproduction.report(runs, scale=scale, seed=seed)
        if output is not None:
            _write_files(report, reproduction, folder)
    if as_json:
        write_json(report)
    else:
        console = QuietConsole(highlight=False)
        console.width = max(console.width, WIDTH)
        reproduction.tables(report, console)
        _write_checks(report.checks)
        if output is not None:
            write_error(f"figures: {output}")
    return all(check.holds for check in report.checks)


@contextmanager
def _folder(output: str | None) -> Iterator[Path]:
    """The folder, made if need be, or one for as long as the command runs.

    Raises FileError for what cannot be written meanwhile.
    """
    if output is None:
        with TemporaryDirectory(prefix="boolcast-") as place:
            yield Path(place)
        return
    try:
        folder = Path(output)
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
    except OSError as error:
        raise FileError(f"cannot write: {error.strerror}", path=output) from None


def _write_files(report: M, reproduction: Reproduction[R, M], folder: Path) -> None:
    (folder / "figures.json").write_bytes(json_line(report))
    for name, rows in reproduction.rows(report).items():
        if rows:
            pq.write_table(pa.Table.from_pylist(rows), folder / f"{name}.parquet")
    if find_spec("matplotlib") is None:
        write_error("no plots: pip install 'boolcast[report]'")
    else:
        import_module(reproduction.plots).draw(report, folder)


def _write_checks(checks: Iterable[Check]) -> None:
    """Two lines for each: ours, and what it should be beside what the paper has."""
    for check in checks:
        mark = "✓" if check.holds else "✗"
        write(f"{mark} {check.number}. {check.name}: {check.ours}")
        write(f"     should be {check.bound}; the paper: {check.paper}")
