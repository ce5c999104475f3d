"""`boolcast bench`."""

import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest

from boolcast.cli.output.progress import steps
from boolcast.cli.output.tables import number
from boolcast.lab.benchmarks.choices import AlternativeName, EngineName, WorkloadName
from boolcast.lab.benchmarks.match import report
from tests.cli.running import run
from tests.cli.test_application import HEAVY, IMPORTS

SMALL = ("--subscriptions", "60", "--events", "40", "--repeats", "1")


@pytest.fixture(autouse=True, scope="module")
def _compiled():
    """Let the kernels be compiled, which in a new installation is announced on stderr."""
    run("bench", "match", *SMALL, "--workload", "unselective", "--engines", "all", "--single")


@pytest.fixture(autouse=True)
def _quiet_machine(monkeypatch):
    """As if nobody else were at work here."""
    monkeypatch.setattr(report, "_NOTED_SLOWDOWN", float("inf"))


@pytest.mark.parametrize("arguments", [["bench", "--help"], ["bench", "match", "--help"]])
def test_help_imports_nothing_heavy(arguments):
    process = subprocess.run(
        [sys.executable, "-c", IMPORTS, *arguments], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    assert not HEAVY & set(json_names(process.stderr))


def json_names(text: str) -> list[str]:
    return [part.strip('"') for part in text.strip().strip("[]").split(", ")]


def test_help_names_all_that_can_be_chosen():
    result = run("bench", "match", "--help")
    assert result.code == 0
    words = result.output.replace("-\n                         ", "-").split()
    names = {word.strip(",.:") for word in words}
    assert {*WorkloadName, *EngineName, *AlternativeName} <= names
    assert "  Examples:\n    boolcast bench match\n" in result.output
    assert "  Exit codes:\n    0  measured\n" in result.output


def test_a_table_of_engines(monkeypatch):
    # pytest-xdist says 80.
    monkeypatch.delenv("COLUMNS", raising=False)
    result = run("bench", "match", *SMALL)
    # The first to use the kernel in an installation is told that it is being compiled.
    errors = [line for line in result.errors.splitlines() if "compiling" not in line]
    assert (result.code, errors) == (0, [])
    lines = [line.split() for line in result.output.splitlines()]
    assert [line[:3] for line in lines if line[:1] == ["auction"]] == [
        ["auction", "access", "60"],
        ["auction", "counting", "60"],
        ["auction", "access", "60"],
    ]
    assert "…" not in result.output
    assert "\x1b" not in result.output


def test_a_shared_processor_is_noted(monkeypatch):
    monkeypatch.setattr(report, "_NOTED_SLOWDOWN", 0.0)
    arguments = ("bench", "match", *SMALL, "--engines", "access")
    result = run(*arguments)
    assert result.code == 0
    assert result.errors.startswith("times are processor time; the processor was shared, ")
    assert run(*arguments, "--json").errors == ""


def test_a_chart_of_the_engines(tmp_path):
    chart = tmp_path / "engines.svg"
    result = run("bench", "match", *SMALL, "--chart", chart, "--json")
    assert result.code == 0, result.errors
    assert [line["engine"] for line in result.json] == ["access", "counting", "scan"]
    root = ET.fromstring(chart.read_bytes())
    texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"access", "counting", "scan", "40 events", "2 events"} <= set(texts)


@pytest.mark.parametrize("arguments", [["-w", "all"], ["-s", "60", "-s", "90"]])
def test_a_chart_is_of_one_size_and_workload(arguments, tmp_path):
    result = run("bench", "match", *arguments, "--chart", tmp_path / "engines.svg")
    assert (result.code, result.output) == (2, "")
    assert "one workload and one number of subscriptions" in result.errors


def test_a_chart_that_cannot_be_written(tmp_path):
    result = run("bench", "match", *SMALL, "-e", "access", "--chart", tmp_path / "no" / "a.svg")
    assert result.code == 2
    assert "cannot write: No such file" in result.errors


@pytest.mark.slow
def test_json_lines():
    result = run(
        "bench", "match", *SMALL, "-s", "90", "-w", "fixed,unselective", "-e", "all", "--json"
    )
    assert (result.code, result.errors) == (0, "")
    batches = [line for line in result.json if line["measure"] == "batch"]
    assert [(line["workload"], line["subscriptions"], line["engine"]) for line in batches] == [
        (workload, size, engine)
        for workload in ("fixed", "unselective")
        for size in (60, 90)
        for engine in ("access", "counting", "mbd", "scan")
    ]
    access, counting, _, scan = batches[:4]
    assert access["times_counting"] == pytest.approx(
        counting["microseconds_per_event"] / access["microseconds_per_event"]
    )
    assert scan["times_scan"] == 1
    assert counting["structure_bytes"] is None
    growth = [line for line in result.json if line["measure"] == "growth"]
    assert [(line["fewer_subscriptions"], line["more_subscriptions"]) for line in growth] == [
        (60, 90)
    ] * 2


@pytest.mark.slow
def test_class_1_only():
    result = run("bench", "match", *SMALL, "--single", "--against", "numpy", "--json")
    assert result.code == 0
    assert [line["measure"] for line in result.json] == ["single", "single", "rival", "rival"]
    tables = run("bench", "match", *SMALL, "--single", "--against", "numpy").output
    assert "Calls of match with a dict" in tables
    assert "numpy: a mask over columns of constants for each event\n" in tables
    assert "In batches" not in tables


@pytest.mark.slow
def test_a_rival_that_is_not_installed_is_left_out(monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    arguments = ("bench", "match", *SMALL, "--against", "duckdb,lambdas")
    result = run(*arguments)
    assert result.code == 1
    assert result.errors == "left out: duckdb is not installed: pip install 'boolcast[rivals]'\n"
    assert "lambdas" in result.output
    as_json = run(*arguments, "--json")
    assert (as_json.code, as_json.errors) == (1, "")
    assert [line["measure"] for line in as_json.json] == ["rival", "missing", "rival"]


@pytest.mark.parametrize(
    ("arguments", "known"),
    [
        (["--workload", "auctoin"], "--workload knows auction, auction-zipf, "),
        (["--engines", "access,fast"], "--engines knows access, counting, mbd, scan and all, "),
        (["--against", "spark"], "--against knows duckdb, polars, numpy, lambdas, rule-engine and"),
    ],
)
def test_an_unknown_name(arguments, known):
    result = run("bench", "match", *arguments)
    assert (result.code, result.output) == (2, "")
    assert result.errors.startswith(f"error: {known}")


@pytest.mark.parametrize("arguments", [["--subscriptions", "0"], ["--events", "1"], ["--nonsense"]])
def test_wrong_usage(arguments):
    result = run("bench", "match", *arguments)
    assert (result.code, result.output) == (2, "")
    assert arguments[0] in result.errors


class Terminal:
    """A standard stream that is a terminal."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.written = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.written += text
        return len(text)

    def flush(self) -> None:
        pass


def test_progress_shows_on_a_terminal(monkeypatch):
    errors = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", errors)
    with steps(2) as begin:
        begin("drawing auction")
        begin("access on auction")
    monkeypatch.undo()
    assert "access on auction" in errors.written


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0.0, "0"), (0.12345, "0.123"), (12.345, "12.3"), (123456.7, "123,457")],
)
def test_numbers_have_three_figures_or_all(value, text):
    assert number(value) == text
