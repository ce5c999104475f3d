"""Tables fit the terminal: nothing is cut off."""

import pytest
from rich.console import Console

from boolcast.cli.output.tables import QuietConsole, plain_table
from tests.cli.running import run


def drawn(width: int) -> list[str]:
    table = plain_table("Speed", ["workload", "engine"], ["subscriptions", "events/s"], ["× scan"])
    table.add_row("auction", "access", "200,000", "431,034", "330,000")
    table.add_row("auction", "scan", "200,000", "1.3", "1")
    console = Console(width=width, highlight=False)
    with console.capture() as capture:
        console.print(table)
    return [line.rstrip() for line in capture.get().splitlines()]


def test_a_table_has_columns_where_there_is_room():
    lines = drawn(60)
    assert any(line.split() == ["auction", "scan", "200,000", "1.3", "1"] for line in lines)


def test_a_narrow_table_has_a_line_for_each_figure():
    assert drawn(30) == [
        "Speed",
        "auction · access",
        "  subscriptions  200,000",
        "  events/s       431,034",
        "  × scan         330,000",
        "auction · scan",
        "  subscriptions  200,000",
        "  events/s       1.3",
        "  × scan         1",
    ]


def test_a_file_is_wide_unless_columns_are_given(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert QuietConsole().width == 160
    monkeypatch.setenv("COLUMNS", "60")
    assert QuietConsole().width == 60


FEW = ("--subscriptions", "60", "--publications", "200", "--unsubscriptions", "2", "-f", "none")
COMMANDS = {
    "simulate": ("simulate", "-w", "groups", "-t", "tree:2x2", *FEW),
    "bench": ("bench", "match", "-s", "300", "--events", "200", "--repeats", "1"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_tables_of_commands_fit_60_columns(monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "60")
    result = run(*COMMANDS[name])
    assert result.code == 0, result.errors
    # Sentences are left to the terminal to wrap.
    rows = [line for line in result.output.splitlines() if line.startswith(" ")]
    assert len(rows) > 5
    assert max(map(len, rows)) <= 60
    assert "…" not in result.output
