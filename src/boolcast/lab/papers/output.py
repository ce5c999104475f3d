"""How all reproductions are run and shown: a folder, tables or JSON, Parquet, plots, checks."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Generic, NoReturn, Protocol, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import typer
from rich.console import Console

from boolcast.cli.output.endings import ExitCode, ended_by_sigterm
from boolcast.cli.output.progress import shares
from boolcast.cli.output.tables import WIDTH, QuietConsole
from boolcast.cli.output.writing import json_line, write, write_error, write_json
from boolcast.errors import FileError, UsageError
from boolcast.lab.papers.checks import Check
from boolcast.lab.papers.reproduction import R, Runner, S, Setting, reproduce

Rows = list[dict[str, object]]


class _Report(Protocol):
    @property
    def checks(self) -> Sequence[Check]: ...


P = TypeVar("P", bound=StrEnum)
P_contra = TypeVar("P_contra", bound=StrEnum, contravariant=True)
S_co = TypeVar("S_co", bound=Setting, covariant=True)
M = TypeVar("M", bound=_Report)
M_co = TypeVar("M_co", bound=_Report, covariant=True)


class _Chooses(Protocol[P_contra, S_co]):
    def __call__(self, parts: Iterable[P_contra], *, scale: float, seed: int) -> Sequence[S_co]: ...


class _MakesReport(Protocol[R, M_co]):
    def __call__(self, runs: list[R], *, scale: float, seed: int) -> M_co: ...


class Reproduction(msgspec.Struct, Generic[P, S, R, M], frozen=True, kw_only=True):
    """The runs of a paper's experiments, and what becomes of their figures.

    `runner` gets the cores, or None for all, and the folder. `report` puts figures together,
    `rows` become Parquet files with these names; the module `plots` has a function `draw` that
    writes into a folder, and is imported only where there is matplotlib.
    """

    parts: type[P]
    settings: _Chooses[P, S]
    runner: Callable[[int | None, Path], Runner[S, R]]
    figures: msgspec.json.Decoder[R]
    report: _MakesReport[R, M]
    tables: Callable[[M, Console], None]
    rows: Callable[[M], Mapping[str, Rows]]
    plots: str


def show(
    reproduction: Reproduction[P, S, R, M],
    part: str,
    *,
    scale: float,
    seed: int,
    output: str | None,
    cores: int | None,
    as_json: bool,
) -> NoReturn:
    """Run what is not in the folder yet, write, and end the command. Raises UsageError."""
    parts = _parts(part, reproduction.parts)
    chosen = reproduction.settings(parts, scale=scale, seed=seed)
    with ended_by_sigterm(), _folder(output) as folder:
        with shares("reproducing") as tell:
            runs = reproduce(
                chosen, reproduction.runner(cores, folder), reproduction.figures, folder, tell
            )
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
    holds = all(check.holds for check in report.checks)
    raise typer.Exit(ExitCode.FINE if holds else ExitCode.RESERVATIONS)


def _parts(text: str, kind: type[P]) -> list[P]:
    """The experiments that a list names, each once. Raises UsageError."""
    names = [name.strip() for name in text.split(",")]
    try:
        parts = list(kind) if names == ["all"] else [kind(name) for name in names]
    except ValueError:
        raise UsageError(f"--part takes some of {', '.join(kind)}, or all, not {text!r}") from None
    return list(dict.fromkeys(parts))


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


def _write_files(report: M, reproduction: Reproduction[P, S, R, M], folder: Path) -> None:
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
