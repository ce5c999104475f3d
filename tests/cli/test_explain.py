"""`boolcast explain`."""

import json

import pytest

from tests.cli.running import run


def test_an_accepted_event():
    result = run("explain", "price < 25", '{"price": 21}')
    assert result == (0, "accepted\n✓ price < 25: price is 21  ← decides\n", "")


def test_a_refused_event():
    result = run("explain", "price < 25 and ending < 24", '{"price": 21}')
    assert result.code == 1
    assert result.output.splitlines()[0] == "refused"
    assert "? ending < 24: ending is missing  ← decides" in result.output


def test_json():
    result = run(
        "explain", "--json", "price < 25 and x > 5 and y is null", '{"price": 30, "y": []}'
    )
    assert result.code == 1
    (explained,) = result.json
    assert explained["accepted"] is False
    assert explained["filter"] == "price < 25 and x > 5 and y is null"
    assert explained["deciding"] == ["price < 25", "x > 5", "y is null"]
    assert [child["values"] for child in explained["explanation"]["children"]] == [
        {"price": 30},
        {"x": None},
        {"y": "list"},
    ]


def test_json_writes_what_json_lacks_as_text(tmp_path):
    (tmp_path / "schema.json").write_text(
        '{"attributes": {"x": {"kind": "number"}, "t": {"kind": "timestamp"}}}'
    )
    result = run(
        *("explain", "--json", "--schema", tmp_path / "schema.json"),
        *("t > timestamp '2026-01-31' and x > 5", '{"x": 1e400, "t": "2026-02-01"}'),
    )
    assert result.code == 0
    first, second = result.json[0]["explanation"]["children"]
    assert first["values"] == {"t": "2026-02-01T00:00:00Z"}
    assert second["values"] == {"x": "inf"}


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "marked"])
def test_the_event_from_a_file_or_standard_input(tmp_path, mark):
    text = mark + b'{"price": 21}\n'
    (tmp_path / "event.json").write_bytes(text)
    assert run("explain", "price < 25", f"@{tmp_path / 'event.json'}").code == 0
    assert run("explain", "price < 25", "-", stdin=text).code == 0


def test_a_wrong_filter():
    result = run("explain", "price << 25", "{}")
    assert (result.code, result.output) == (2, "")
    assert result.errors.splitlines()[1:3] == ["  price << 25", "         ^"]


@pytest.mark.parametrize(
    "event",
    ["{price: 21}", "", "[1]", '{"a": 1, "a.b": 2', "-5", '{"a": "\udcff"}', "[" * 10**5],
    ids=["no JSON", "nothing", "a list", "half of it", "a number", "a surrogate", "too deep"],
)
def test_a_wrong_event(event):
    result = run("explain", "price < 25", "--", event)
    assert (result.code, result.output) == (2, "")
    assert result.errors.startswith("error: ")
    assert """hint: an event is given as '{"price": 21}'""" in result.errors


def test_a_file_without_its_sign(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "event.json").write_text("{}")
    assert "write @event.json" in run("explain", "price < 25", "event.json").errors


def test_a_wrong_event_in_a_file(tmp_path):
    path = tmp_path / "event.json"
    path.write_bytes(b'{"a": "\xff"}')
    result = run("explain", "price < 25", f"@{path}")
    assert result.code == 2
    assert result.errors.startswith(f"error: {path}: the text is not valid UTF-8")


def test_an_error_is_json_where_json_is_asked_for():
    result = run("explain", "--json", "price <", "{}")
    assert (result.code, result.output) == (2, "")
    (line,) = result.json_errors
    assert line["error"]["kind"] == "FilterSyntaxError"
    assert line["error"]["position"] == 7


def test_json_is_asked_for_by_an_option_only():
    result = run("explain", "--", "--json", "{}")
    assert (result.code, result.output) == (2, "")
    assert result.errors.startswith("error: `--` is not part of the filter language")
    assert run("explain", "--json", "--", "--json", "{}").json_errors


@pytest.fixture
def schema(tmp_path):
    path = tmp_path / "schema.json"
    path.write_text(json.dumps({"attributes": {"t": {"kind": "timestamp"}}}))
    return path


@pytest.mark.parametrize("event", ['{"t": "2026-01-30"}', "-"])
def test_a_schema_reads_timestamps(schema, event):
    arguments = ["explain", "t < timestamp '2026-01-31'", event]
    assert run(*arguments, stdin=b'{"t": "2026-01-30"}').code == 1
    assert run(*arguments, "--schema", schema, stdin=b'{"t": "2026-01-30"}').code == 0


def test_a_schema_knows_all_attributes(schema):
    result = run("explain", "--schema", schema, "tt is null", "{}")
    assert result.code == 2
    assert "did you mean `t`?" in result.errors


def test_only_one_of_the_two_is_standard_input():
    result = run("explain", "a = 1", "-", "--schema", "-", stdin=b"{}")
    assert result.code == 2
    assert "only once" in result.errors


def test_a_terminal_without_check_marks():
    result = run("explain", "a = 1", '{"a": 1}', encoding="latin-1")
    assert result.code == 0
    assert result.output.splitlines()[1].startswith(r"\u2713 a = 1")
