"""Back-tests: what each subscription would have matched, from files and by the command line."""

import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from boolcast.errors import FileError
from boolcast.filters.parsing import parse
from boolcast.model.events import Event
from boolcast.pipeline import backtest
from boolcast.pipeline.events.history import read_events
from boolcast.pipeline.index.subscription_files import read_subscriptions
from boolcast.pipeline.spark import workloads
from boolcast.pipeline.spark.files import is_parquet
from boolcast.workloads import Diverse
from tests.cli.running import run

FILTERS = {
    "cheap": "price < 10",
    "all": "price is not null",
    "dune": "title = 'Dune' and price < 100",
    "none": "title = 'Emma' and price > 5",
    "impossible": "price < 1 and price > 2 and false",
    "odd": "contains(title, 'u')",
}
EVENTS = [{"price": n, "title": "Dune" if n % 4 else "It's"} for n in range(40)]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The same in both forms; the lines have something wrong with them."""
    folder = tmp_path_factory.mktemp("history")
    pq.write_table(pa.Table.from_pylist(EVENTS), folder / "events.parquet")
    rows = [{"subscription": name, "filter": text} for name, text in FILTERS.items()]
    pq.write_table(pa.Table.from_pylist(rows), folder / "subscriptions.parquet")
    lines = [json.dumps(event) for event in EVENTS]
    (folder / "events.jsonl").write_text("\n".join([*lines, "", '{"price": ', "[]"]) + "\n")
    as_tree = {"subscription": 7, "filter": json.loads('{"type": "constant", "value": true}')}
    bad = [{"subscription": "bad", "filter": "price <"}, {"filter": "true"}]
    lines = [json.dumps(row) for row in [*rows, as_tree, *bad]]
    (folder / "subscriptions.jsonl").write_text("\n".join([*lines, "nonsense"]))
    return folder


def matches_of(filters: dict[str, str]) -> dict[str, int]:
    events = [Event.from_python(event) for event in EVENTS]
    return {name: sum(map(parse(text).accepts, events)) for name, text in filters.items()}


def test_the_command_on_parquet(spark, files, tmp_path):
    result = run(
        *("backtest", "-s", files / "subscriptions.parquet", "-e", files / "events.parquet"),
        *("--output", tmp_path / "out", "--plot", tmp_path / "plot.png", "--top", 3, "--json"),
    )
    assert (result.code, result.errors) == (0, "")
    (report,) = result.json
    expected = matches_of(FILTERS)
    assert report["matches"] == sum(expected.values())
    assert report["events"] == len(EVENTS)
    assert {each["subscription"] for each in report["never"]} == {"none", "impossible"}
    assert report["never_matching"] == 2
    assert [each["subscription"] for each in report["always"]] == ["all"]
    assert [each["subscription"] for each in report["most_matching"]] == ["all", "dune", "odd"]
    written = pq.read_table(tmp_path / "out" / "subscriptions").to_pylist()
    assert {row["subscription"]: row["matches"] for row in written} == expected
    assert {row["subscription"]: row["filter"] for row in written} == FILTERS
    for row in written:
        assert row["share"] == row["matches"] / len(EVENTS)
    reach = {row["subscription"]: row["reach"] for row in written}
    assert reach["impossible"] == 0
    assert reach["none"] < 0.1
    assert 0.6 < reach["dune"] < reach["all"] <= 1
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.long
def test_folders_whose_names_look_like_patterns(spark, files, tmp_path):
    folder = tmp_path / "in[1]{a,b}*"
    shutil.copytree(files, folder)
    for events in ("events.parquet", "events.jsonl"):
        result = run(
            *("backtest", "-s", folder / "subscriptions.parquet", "-e", folder / events),
            *("--output", tmp_path / "out[1]*", "--json"),
        )
        assert result.json[0]["matches"] == sum(matches_of(FILTERS).values())


def test_the_command_on_lines_with_faults(spark, files):
    result = run("backtest", "-s", files / "subscriptions.jsonl", "-e", files / "events.jsonl")
    assert result.code == 1
    total = sum(matches_of({**FILTERS, "7": "true"}).values())
    assert f"7 subscriptions, 40 events, {total} matches: 2 never match, 2 always" in result.output
    assert "Most expensive" in result.output
    assert "left out: 2 malformed events" in result.errors
    assert "left out: 3 subscriptions" in result.errors
    assert "nonsense" in result.errors
    assert "the JSON cannot be read" in result.errors


def test_an_output_that_cannot_be_written_is_told_in_a_line(spark, files, tmp_path):
    (tmp_path / "file").touch()
    result = run(
        *("backtest", "-s", files / "subscriptions.jsonl", "-e", files / "events.jsonl"),
        *("--output", tmp_path / "file" / "out"),
    )
    assert (result.code, result.output) == (2, "")
    assert result.errors == f"error: cannot write {tmp_path}/file/out/statistics: Not a directory\n"


def test_logs_and_marks_beside_the_data_do_not_tell_the_format(files, tmp_path):
    for mark in ("_delta_log/000.json", ".hidden/_x/a.json", "_SUCCESS", ".a.parquet.crc"):
        path = tmp_path / "_table" / mark
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    with pytest.raises(FileError, match="there are no files in this folder"):
        is_parquet(str(tmp_path / "_table"))
    (tmp_path / "_table" / "_day=1").mkdir()
    shutil.copy(files / "events.parquet", tmp_path / "_table" / "_day=1")
    assert is_parquet(str(tmp_path / "_table"))


def test_what_cannot_be_read_is_told_before_anything_is_done(spark, files, tmp_path):
    parquet = files / "events.parquet"
    missing = run("backtest", "-s", tmp_path / "nothing", "-e", parquet)
    assert missing.code == 2
    assert "there is no such file" in missing.errors
    (tmp_path / "empty").mkdir()
    empty = run("backtest", "-s", parquet, "-e", tmp_path / "empty", "--json")
    assert empty.code == 2
    assert empty.json_errors[0]["error"]["kind"] == "FileError"
    other = run("backtest", "-s", parquet, "-e", parquet)
    assert other.code == 2
    assert "there is no column subscription and filter" in other.errors
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and nothing more")
    with pytest.raises(FileError, match="cannot read it as Parquet"):
        read_events(spark, str(tmp_path / "broken.parquet"))
    with pytest.raises(FileError):
        read_subscriptions(spark, str(tmp_path / "nothing"))


@pytest.mark.long
def test_the_job_on_a_workload(spark, tmp_path):
    workload = Diverse(seed=6)
    tested = backtest(
        workloads.subscriptions(spark, workload, 60, partitions=2),
        workloads.events(spark, workload, 150, partitions=2),
        str(tmp_path),
    )
    events = [workload.event(row) for row in range(150)]
    expected = {
        f"s{i}": sum(map(filter.accepts, events))
        for i, filter in enumerate(workload.subscription_filters(0, 60))
    }
    found = {row["subscription"]: row["matches"] for row in tested.result.collect()}
    assert found == expected
    assert sum(expected.values()) > 0
    assert (tested.events, tested.subscriptions, tested.rejected) == (150, 60, 0)
