"""What a configuration may say, and what is said of one that is wrong."""

import re
import textwrap

import msgspec
import pytest

from boolcast.cli.input.stream_configuration import Configuration, as_text, read_configuration
from tests.cli.running import run

MINIMAL = {
    "index": "index",
    "output": "output",
    "checkpoint": "checkpoint",
    "event_id": "id",
    "source": {"format": "json"},
}


def written(tmp_path, configuration, name="stream.json"):
    path = tmp_path / name
    encode = msgspec.json.encode if name.endswith(".json") else msgspec.toml.encode
    path.write_bytes(configuration if isinstance(configuration, bytes) else encode(configuration))
    return str(path)


def test_json_and_toml_say_the_same(tmp_path):
    path = tmp_path / "stream.toml"
    path.write_text(
        'index = "index"\noutput = "output"\ncheckpoint = "checkpoint"\nevent_id = "id"\n'
        'source = {format = "json"}\n'
    )
    assert read_configuration(str(path)) == read_configuration(written(tmp_path, MINIMAL))


def test_the_example_of_the_help_is_a_configuration(tmp_path):
    text = run("stream", "--help").output
    example = text.partition("alerts.toml:\n")[2].partition("\n\n")[0]
    path = tmp_path / "alerts.toml"
    path.write_text(textwrap.dedent(example))
    read = read_configuration(str(path))
    assert (read.index, read.event_id, read.source.format) == ("index/", "id", "json")
    assert read.source.options == {"maxFilesPerTrigger": 100}
    assert read.spark.settings == {"spark.driver.memory": "2g"}
    # What the comments show is all that is left.
    commented = re.sub("(?m)^# ", "", textwrap.dedent(example))
    path.write_text(commented)
    read = read_configuration(str(path))
    assert (read.json, read.form, len(read.source.select)) == ("value", "lists", 2)
    assert (read.schema, read.memory) == ("schema.json", 2 << 30)
    fields = set(Configuration.__struct_fields__)
    assert {line.split()[0] for line in commented.split("[source]")[0].splitlines()} | {
        "source",
        "spark",
    } == fields


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"index": None}, "index: expected str, got null"),
        ({"checkpiont": "x"}, "checkpiont is not known here"),
        ({"source": {}}, "source.format is missing"),
        ({"source": {"format": "json", "shema": ""}}, "source.shema is not known here"),
        ({"source": {"format": "json", "options": {"x": []}}}, "source.options[...]: expected"),
        ({"trigger_seconds": -1}, "trigger_seconds: expected float >= 0"),
        ({"memory": 0}, "memory: expected int >= 1"),
        ({"form": "heap"}, "form: invalid enum value 'heap'"),
        ({"spark": {"settings": {"a": None}}}, "spark.settings[...]: expected"),
        (
            {"source": {"format": "parquet"}},
            "source.path is missing: the format parquet needs the folder of its files",
        ),
        ({"source": {"format": "PARQUET", "reader": "spark"}}, "source.path is missing: "),
        (
            {"source": {"format": "json", "path": "x", "reader": "workers"}},
            "source.reader: workers read the format parquet, not json",
        ),
        (
            {"source": {"format": "parquet", "path": "x", "select": ["a"], "reader": "workers"}},
            "source.reader: workers cannot evaluate select: leave it out",
        ),
        *(
            ({"source": {"path": "x", "fsspec": {"anon": True}, **each}}, "source.fsspec is for")
            for each in (
                {"format": "json"},
                {"format": "parquet", "reader": "spark"},
                {"format": "parquet", "select": ["a"]},
            )
        ),
    ],
)
def test_an_error_names_the_key(tmp_path, changed, problem):
    path = written(tmp_path, {**MINIMAL, **changed})
    result = run("stream", path)
    assert (result.code, result.output) == (2, "")
    assert result.errors.startswith(f"error: {path}: {problem}")


@pytest.mark.parametrize("missing", ["index", "output", "checkpoint", "event_id", "source"])
def test_what_must_be_there(tmp_path, missing):
    rest = {name: value for name, value in MINIMAL.items() if name != missing}
    path = written(tmp_path, rest)
    assert run("stream", path).errors == f"error: {path}: {missing} is missing\n"


@pytest.mark.parametrize(
    ("name", "data"), [("a.json", b"{"), ("a.toml", b"="), ("a.toml", b"\xff")]
)
def test_what_cannot_be_read(tmp_path, name, data):
    path = written(tmp_path, data, name)
    result = run("stream", path)
    assert result.code == 2
    assert result.errors.startswith(f"error: {path}: cannot be read: ")


def test_a_file_that_is_not_there():
    assert run("stream", "nowhere.toml").errors == "error: nowhere.toml: there is no such file\n"


def test_options_as_spark_takes_them():
    assert [as_text(each) for each in (True, False, 3, 0.5, "x")] == [
        "true",
        "false",
        "3",
        "0.5",
        "x",
    ]


@pytest.mark.parametrize("name", ["parquet", "Parquet", "PARQUET"])
def test_the_case_of_a_format_does_not_matter(tmp_path, name):
    told = {**MINIMAL, "source": {"format": name, "path": "x"}}
    source = read_configuration(written(tmp_path, told)).source
    assert (source.is_read_by_workers, source.is_of_files) == (True, True)
