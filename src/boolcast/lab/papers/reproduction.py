"""Run a paper's experiments and show them: tables or JSON, Parquet files, plots, checks.

Every paper describes itself by one `Reproduction`. Everything else is the same for all of them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Generic, NoReturn, Protocol, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import typer
from rich.console import Console

from boolcast.cli.output.endings import ExitCode, ended_by_sigterm
from boolcast.cli.output.progress import shares
from boolcast.cli.output.tables import WIDTH, QuietConsole
from boolcast.cli.output.writing import json_line, write, write_error, write_json
from boolcast.errors import FileError
from boolcast.lab.papers.checks import Check
from boolcast.lab.papers.runs import (
    Experiment,
    R,
    Runner,
    S,
    chosen_experiments,
    reproduce,
    settings_of,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Rows = list[dict[str, object]]


class _HasChecks(Protocol):
    @property
    def checks(self) -> Sequence[Check]: ...


M = TypeVar("M", bound=_HasChecks)
M_co = TypeVar("M_co", bound=_HasChecks, covariant=True)


class PaperReport(msgspec.Struct, Generic[R], frozen=True):
    """The figures of all runs, and the checks of the paper's statements against them."""

    scale: float
    seed: int
    runs: list[R]
    checks: list[Check]


class _MakesReport(Protocol[R, M_co]):
    def __call__(self, runs: list[R], *, scale: float, seed: int) -> M_co: ...


class Reproduction(msgspec.Struct, Generic[S, R, M], frozen=True, kw_only=True):
    """One paper: its experiments, how they are run, and how their figures are shown.

    `runner` gets the number of cores (None for all) and the folder. `rows` become Parquet files
    of that name. `plots` gives plots by name, each saved as `<paper>-<name>.svg`; it is called
    only if matplotlib is installed.
    """

    paper: str
    experiments: Mapping[str, Experiment[S]]
    runner: Callable[[int | None, Path], Runner[S, R]]
    figures: msgspec.json.Decoder[R]
    report: _MakesReport[R, M]
    tables: Callable[[M, Console], None]
    rows: Callable[[M], Mapping[str, Rows]]
    plots: "Callable[[M], Mapping[str, Figure]]"


def checked(
    checks: Callable[[Sequence[R]], list[Check]],
) -> Callable[..., PaperReport[R]]:
    """The report of a paper that shows its runs as they are."""

    def report(runs: list[R], *, scale: float, seed: int) -> PaperReport[R]:
        return PaperReport(scale, seed, runs, checks(runs))

    return report


def show(
    reproduction: Reproduction[S, R, M],
    names: str,
    *,
    scale: float,
    seed: int,
    output: str | None,
    cores: int | None,
    as_json: bool,
) -> NoReturn:
    """Carry out the missing runs, write everything, and end the command. Raises UsageError."""
    experiments = chosen_experiments(names, reproduction.experiments)
    chosen = settings_of(reproduction.experiments, experiments, scale=scale, seed=seed)
    with ended_by_sigterm(), _folder(output) as folder:
        with shares("reproducing") as tell:
            runner = reproduction.runner(cores, folder)
            runs = reproduce(chosen, runner, reproduction.figures, folder, tell)
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


@contextmanager
def _folder(output: str | None) -> Iterator[Path]:
    """The folder, created if necessary, or a temporary one for the duration of the command.

    Raises FileError if something cannot be written meanwhile.
    """
    if output is None:
        with TemporaryDirectory(prefix="boolcast-") as temporary:
            yield Path(temporary)
        return
    try:
        folder = Path(output)
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
    except OSError as error:
        raise FileError(f"cannot write: {error.strerror}", path=output) from None


def _write_files(report: M, reproduction: Reproduction[S, R, M], folder: Path) -> None:
    (folder / "figures.json").write_bytes(json_line(report))
    for name, rows in reproduction.rows(report).items():
        if rows:
            pq.write_table(pa.Table.from_pylist(rows), folder / f"{name}.parquet")
    if find_spec("matplotlib") is None:
        write_error("no plots: pip install 'boolcast[report]'")
        return
    from boolcast.lab.papers.plotting import save  # noqa: PLC0415 - matplotlib

    for name, figure in reproduction.plots(report).items():
        save(figure, folder / f"{reproduction.paper}-{name}.svg")


def _write_checks(checks: Iterable[Check]) -> None:
    """Two lines for each check: our figure, then the bound and the paper's figure."""
    for check in checks:
        mark = "✓" if check.holds else "✗"
        write(f"{mark} {check.number}. {check.name}: {check.ours}")
        write(f"     should be {check.bound}; the paper: {check.paper}")
