"""`boolcast check`."""

import gzip
import json
import os
import pty
import subprocess

import pytest

from tests.cli.running import BOOLCAST, ENVIRONMENT, run

FILE = b"""\
price < 25
price == 5

{"subscription": "a", "filter": "price < 25 and price < 30"}
not (a > 1 and b < 2.0)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def file(folder):
    (folder / "filters.txt").write_bytes(FILE)
    return "filters.txt"


def test_a_filter_without_findings():
    result = run("check", "price<25.0 AND NOT (condition='new')")
    assert result == (
        0,
        (
            "canonical   price < 25 and condition != 'new'\n"
            "simplified  price < 25 and condition != 'new'\n"
            "no findings\n"
        ),
        "",
    )


def test_a_filter_with_a_finding():
    result = run("check", "price < 25 and price < 30")
    assert result == (
        1,
        (
            "canonical   price < 25 and price < 30\n"
            "simplified  price < 25\n"
            "redundant: `price < 30` makes no difference and can be left out\n"
        ),
        "",
    )


def test_a_wrong_filter_is_shown_with_a_caret():
    result = run("check", "price == 25")
    assert result == (
        2,
        "",
        (
            "error: `==` is not part of the filter language (column 7)\n"
            "  price == 25\n"
            "        ^\n"
            "hint: equality is written with a single =\n"
        ),
    )


def test_the_line_is_named_where_a_filter_has_several():
    assert "(line 2, column 3)" in run("check", "price < 25\nor==").errors
    assert "(line 1, column 7)" in run("check", "price ==\n25").errors


def test_a_budget_that_ran_out_is_told(monkeypatch):
    monkeypatch.setattr("boolcast.cli.check._BUDGET", 1)
    result = run("check", "a = 1 or b = 2 and (a = 1 or c < 3)")
    assert "the budget ran out" in result.output
    assert run("check", "--json", "a = 1 or b = 2 and (a = 1 or c < 3)").json[0]["exhausted"]


def test_a_filter_that_begins_with_a_minus_sign():
    assert run("check", "--", "-5 < price").code == 0


def test_json_of_a_filter():
    result = run("check", "--json", "price < 25 and price < 30")
    assert result.code == 1
    assert result.json == [
        {
            "file": None,
            "line": None,
            "subscription": None,
            "canonical": "price < 25 and price < 30",
            "simplified": "price < 25",
            "findings": [
                {
                    "code": "redundant",
                    "text": "price < 30",
                    "message": "`price < 30` makes no difference and can be left out",
                }
            ],
            "exhausted": False,
            "error": None,
        }
    ]


def test_json_of_a_wrong_filter():
    result = run("check", "--json", "price <")
    assert (result.code, result.errors) == (2, "")
    (checked,) = result.json
    assert checked["canonical"] is None
    assert checked["error"] == {
        "kind": "FilterSyntaxError",
        "problem": "expected a value or an attribute, found the end of the filter",
        "file": None,
        "line": None,
        "text": "price <",
        "position": 7,
        "found": "the end of the filter",
        "expected": "a value or an attribute",
        "hint": None,
    }


def test_a_file(file):
    result = run("check", file)
    assert result == (
        2,
        (
            "filters.txt:1: price < 25\n"
            "filters.txt:4: price < 25 and price < 30\n"
            "  simplified  price < 25\n"
            "  redundant: `price < 30` makes no difference and can be left out\n"
            "filters.txt:5: a <= 1 or b >= 2\n"
        ),
        (
            "filters.txt:2: `==` is not part of the filter language (column 7)\n"
            "  price == 5\n"
            "        ^\n"
            "hint: equality is written with a single =\n"
            "filters.txt: 3 right, 1 wrong, 1 finding\n"
        ),
    )


def test_only_what_is_found_is_shown_of_a_file(file):
    result = run("check", "--quiet", file)
    assert result.output.splitlines()[0] == "filters.txt:4: price < 25 and price < 30"
    assert "filters.txt:5" not in result.output


def test_a_line_past_the_budget_is_shown_even_where_there_is_nothing_found(folder, monkeypatch):
    monkeypatch.setattr("boolcast.cli.check._BUDGET", 1)
    (folder / "filters.txt").write_text("a = 1 or b = 2 and (a = 1 or c < 3)\n")
    result = run("check", "--quiet", "filters.txt")
    assert result.output.startswith("filters.txt:1: a = 1 or b = 2 and (a = 1 or c < 3)\n")
    assert "the budget ran out" in result.output
    assert result.errors == "filters.txt: 1 right, 0 wrong, 0 findings, 1 not checked to the end\n"


def test_a_strict_check_stops_at_the_first_bad_line(file):
    result = run("check", "--strict", file)
    assert (result.code, result.output) == (2, "filters.txt:1: price < 25\n")
    assert result.errors.startswith("filters.txt:2: ")


def test_json_of_a_file(file):
    result = run("check", "--json", file)
    assert (result.code, result.errors) == (2, "")
    assert [(each["file"], each["line"], each["subscription"]) for each in result.json] == [
        ("filters.txt", 1, None),
        ("filters.txt", 2, None),
        ("filters.txt", 4, "a"),
        ("filters.txt", 5, None),
    ]
    error = result.json[1]["error"]
    assert (error["file"], error["line"], error["position"]) == ("filters.txt", 2, 6)


@pytest.mark.parametrize(
    ("lines", "code"),
    [(b"price < 25\n", 0), (b"", 0), (b"a = 1 or a = 1\n", 1), (b"a = 1 or a = 1\nb ==", 2)],
    ids=["right", "nothing", "a finding", "a finding and an error"],
)
def test_the_exit_code_of_a_file_is_that_of_its_worst_line(lines, code):
    assert run("check", "-", stdin=lines).code == code


def test_a_file_is_standard_input_or_named_by_an_option(file):
    from_stdin = run("check", "-", stdin=FILE)
    assert from_stdin.output.replace("<stdin>", "filters.txt") == run("check", file).output
    assert run("check", "--file", file) == run("check", file)


def test_a_gzipped_file(folder):
    (folder / "filters.gz").write_bytes(gzip.compress(FILE))
    assert run("check", "filters.gz").errors.endswith("3 right, 1 wrong, 1 finding\n")


def test_a_path_that_is_wrong_is_not_taken_for_a_filter_alone(folder):
    result = run("check", "filters.txt")
    assert result.code == 2
    assert result.errors.endswith("hint: there is no file filters.txt\n")


def test_a_file_that_is_missing(folder):
    (line,) = run("check", "--json", "--file", "price < 25").json_errors
    assert line["error"]["file"] == "price < 25"
    assert line["error"]["problem"] == "there is no such file"
    assert run("check", "--file", "price < 25") == (
        2,
        "",
        "error: price < 25: there is no such file\n",
    )


def test_a_folder(folder):
    assert run("check", ".") == (2, "", "error: .: this is a folder, not a file\n")


@pytest.mark.parametrize(
    "filter", ["", "x" * 5000 + " = ", "a = '\0"], ids=["nothing", "too long", "a NUL"]
)
def test_what_cannot_be_a_path_is_a_filter(filter):
    result = run("check", filter)
    assert result.code == 2
    assert "^" in result.errors


@pytest.mark.parametrize("arguments", [[], ["price < 25", "--file", "filters.txt"]])
def test_exactly_one_filter_or_file(arguments):
    result = run("check", *arguments)
    assert (result.code, result.output) == (2, "")
    assert "give one filter or file" in result.errors


def test_a_subscription_with_two_filters_is_an_error():
    lines = [
        {"subscription": "a", "filter": "x = 1"},
        {"subscription": "a", "filter": "x=1"},
        {"subscription": "a", "filter": "x = 2"},
    ]
    result = run("check", "-", stdin="\n".join(map(json.dumps, lines)).encode())
    assert result.code == 2
    assert result.errors.startswith("<stdin>:3: subscription `a` is already on line 1 with a diff")
    assert result.errors.endswith("2 right, 1 wrong, 0 findings\n")


def test_invalid_utf_8_is_one_bad_line():
    result = run("check", "-", stdin=b"a = '\xff'\nb = 1\n")
    assert result.code == 2
    assert result.output == "<stdin>:2: b = 1\n"
    assert result.errors.startswith("<stdin>:1: the text is not valid UTF-8")


def test_a_lone_surrogate_from_the_shell_gives_valid_json():
    (checked,) = run("check", "--json", "a\udcff = 1").json
    assert checked["error"]["text"] == "a? = 1"


TWO_TYPES = {
    "types": {
        "book": {"title": {"kind": "string"}},
        "record": {"artist": {"kind": "string"}},
    }
}


class TestSchema:
    @pytest.fixture(autouse=True)
    def schema(self, folder):
        (folder / "schema.json").write_text(json.dumps(TWO_TYPES))

    def test_an_unknown_attribute_is_an_error(self):
        result = run("check", "--schema", "schema.json", "titel = 'Dune'")
        assert result.code == 2
        assert "hint: did you mean `title`?" in result.errors

    def test_an_attribute_of_another_type_is_a_finding(self):
        result = run("check", "--schema", "schema.json", "type = 'record' and title = 'Dune'")
        assert result.code == 1
        assert "always-missing: " in result.output

    def test_it_makes_filters_simpler(self):
        filter = "type in ('book', 'record') and title = 'Dune'"
        assert (
            "simplified  title = 'Dune'\n" in run("check", "--schema", "schema.json", filter).output
        )

    def test_it_counts_for_files_too(self):
        lines = b"titel = 'Dune'\ntype = 'record' and title = 'Dune'\n"
        result = run("check", "--schema", "schema.json", "-", stdin=lines)
        assert "did you mean `title`?" in result.errors
        assert "always-missing: " in result.output

    def test_a_wrong_schema(self, folder):
        (folder / "wrong.json").write_text('{"attributes": {"a": {"kind": "text"}}}')
        result = run("check", "--schema", "wrong.json", "a = 'x'")
        assert result.code == 2
        assert result.errors.startswith("error: wrong.json: the schema cannot be read: ")
        assert "Traceback" not in result.errors

    def test_only_one_of_the_two_is_standard_input(self):
        result = run("check", "--schema", "-", "-", stdin=b"{}")
        assert result.code == 2
        assert "only once" in result.errors


@pytest.mark.parametrize(
    ("variables", "colourful"),
    [
        ({"TERM": "xterm"}, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
    ],
)
@pytest.mark.parametrize("filter", ["price < 5 and price < 9", "price <"])
def test_colours_are_for_terminals(variables, colourful, filter):
    ours, theirs = pty.openpty()
    environment = {name: value for name, value in ENVIRONMENT.items() if name != "NO_COLOR"}
    process = subprocess.run(
        [*BOOLCAST, "check", filter],
        env={**environment, **variables},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        check=False,
    )
    os.close(theirs)
    with open(ours, "rb") as terminal:  # noqa: PTH123 - a descriptor
        shown = terminal.read1(100_000)
    assert process.returncode in {1, 2}
    assert (b"\x1b[3" in shown) is colourful


def test_there_are_no_colours_in_a_file():
    assert "\x1b" not in run("check", "price < 5 and price < 9").output
