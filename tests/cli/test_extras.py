"""Without an extra, a command says what to install."""

import sys
from pathlib import Path

import pytest

from boolcast.cli.output.extras import needing_spark
from tests.cli.running import run


@pytest.fixture
def without_spark(monkeypatch):
    for name in list(sys.modules):
        if name.startswith(
            (
                "pyspark",
                "boolcast.pipeline",
                "boolcast.lab.benchmarks.spark",
                "boolcast.lab.demo",
                "boolcast.cli.input.spark",
            )
        ) or (name == "boolcast.cli.backtest_report"):
            monkeypatch.delitem(sys.modules, name)
            package, _, module = name.rpartition(".")
            monkeypatch.delattr(sys.modules.get(package), module, raising=False)
    # What is None cannot be imported.
    monkeypatch.setitem(sys.modules, "pyspark", None)


@pytest.mark.parametrize(
    "arguments",
    [("bench", "spark"), ("demo", "spark"), ("backtest", "-s", "a.jsonl", "-e", "b.jsonl")],
)
def test_spark_is_missing(without_spark, arguments):
    result = run(*arguments)
    assert result.code == 2
    assert "pyspark is not installed: pip install 'boolcast[spark]'" in result.errors


def test_what_else_is_missing_is_a_bug(monkeypatch):
    monkeypatch.setitem(sys.modules, "msgspec.json", None)
    with pytest.raises(ModuleNotFoundError), needing_spark():
        import msgspec.json  # noqa: F401, PLC0415 - the test is that it fails


def test_matplotlib_is_missing(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    result = run("backtest", "-s", "a", "-e", "b", "--plot", "c.png")
    assert result.code == 2
    assert "pip install 'boolcast[report]'" in result.errors


def test_documents_install_extras_from_the_clone():
    """Boolcast is not on PyPI; command-line.md explains the short command of the messages."""
    root = Path(__file__).parents[2]
    documents = [root / "README.md", *root.glob("docs/**/*.md")]
    assert len(documents) > 10
    texts = {path.name: path.read_text("utf-8") for path in documents}
    assert {name for name, text in texts.items() if "pip install 'boolcast[" in text} == set()
    assert [name for name, text in texts.items() if "pip install boolcast[" in text] == [
        "command-line.md"
    ]
