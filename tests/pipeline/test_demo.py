"""`boolcast demo spark`, with fewer subscriptions and events."""

import io
import os
import signal
import subprocess
from collections import defaultdict

import msgspec
import pytest
from rich.console import Console

from boolcast import Matcher
from boolcast.lab.demo import stream_report
from boolcast.lab.demo.stream_input import CHANGES, WATCHES, auction, slices
from boolcast.lab.demo.stream_summary import Summary
from boolcast.pipeline import read_matches
from tests.cli.running import BOOLCAST, ENVIRONMENT, run

SUBSCRIPTIONS, EVENTS = 5_000, 3_000
SMALL = ("demo", "spark", "--subscriptions", SUBSCRIPTIONS, "--events", EVENTS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo") / "boolcast-demo"


@pytest.fixture(scope="module")
def result(spark, folder):
    return run(*SMALL, "--output", folder)


@pytest.fixture(scope="module")
def summary(result, folder):
    return msgspec.json.decode((folder / "summary.json").read_bytes(), type=Summary)


def test_it_is_plain_text_outside_a_terminal(result, folder):
    assert (result.code, result.errors) == (0, "")
    assert "\x1b" not in result.output
    lines = result.output.replace(str(folder), "boolcast-demo").splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 40
    titles = ("9 malformed filters were rejected", "6 malformed events became dead letters")
    assert set(titles) < set(lines)


def test_it_fits_60_columns(summary):
    """Replayed, with the figures of the usual size."""
    written = io.StringIO()
    console = Console(file=written, width=60, soft_wrap=True, highlight=False)
    live = stream_report._Live(console)
    for version in summary.versions:
        live.show_version(msgspec.structs.replace(version, subscriptions=200_000, upserted=2_000))
        for batch in summary.stream.batches:
            if batch.version == version.version:
                live.show_batch(msgspec.structs.replace(batch, events=90_000, matches=200_000))
    live.begin("summing up")
    stream_report._print_summary(
        console, msgspec.structs.replace(summary, folder="boolcast-demo"), None
    )
    lines = written.getvalue().splitlines()
    headings = next(line for line in lines if line.startswith("  version "))
    assert " ".join(headings.split()) == ("version filters changed deleted events matches events/s")
    assert sum(line.startswith("  1 ") for line in lines) == 1
    assert [line for line in lines if len(line) > 60] == []


def test_each_version_has_a_row_with_its_batches(result, summary):
    lines = result.output.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("  version "))
    rows = [line.replace(",", "").split() for line in lines[first + 1 : first + 2 + CHANGES]]
    assert [int(row[0]) for row in rows] == [each.version for each in summary.versions]
    for row, version in zip(rows, summary.versions, strict=True):
        batches = [each for each in summary.stream.batches if each.version == version.version]
        *_, count, events, matches, _ = map(int, row)
        assert (int(row[1]), count) == (version.subscriptions, len(batches))
        assert events == sum(each.events for each in batches)
        assert matches == sum(each.matches for each in batches)


def test_all_events_are_matched_while_versions_change(summary):
    assert summary.stream.events == EVENTS
    taken = [batch.version for batch in summary.stream.batches]
    assert taken == sorted(taken)
    assert (taken[0], taken[-1]) == (1, 1 + CHANGES)
    assert [each.version for each in summary.versions] == list(range(1, 2 + CHANGES))
    assert all(each.deleted and each.rejected for each in summary.versions[1:])


def test_matches_are_those_of_the_engine_at_the_version_of_the_batch(spark, summary, folder):
    found: dict[tuple[int, str], set[str]] = defaultdict(set)
    rows = read_matches(spark, folder / "output").collect()
    for row in rows:
        found[row.version, row.id].add(row.subscription)
    assert sum(map(len, found.values())) == len(rows) == summary.stream.matches
    events = auction(SUBSCRIPTIONS, 1).events(0, EVENTS).to_pylist()
    for version in range(1, 2 + CHANGES):
        matcher = Matcher.load(folder / "index", version=version)
        for (of_version, name), subscriptions in found.items():
            if of_version == version:
                assert subscriptions == set(matcher.match(events[int(name.removeprefix("e"))]))


def test_a_subscription_matches_from_its_version_on(summary):
    assert [each.subscription for each in summary.stream.watches] == list(WATCHES)
    for watch in summary.stream.watches:
        counts = [each.watched.get(watch.subscription, 0) for each in summary.stream.batches]
        assert watch.matches == sum(counts) > 0
        assert watch.since_version > int(watch.subscription.removeprefix("watch-"))


def test_what_is_malformed_is_told_with_its_reason(summary):
    rejects, letters = summary.reject_reasons, summary.stream.dead_letter_reasons
    assert summary.rejected == sum(each.rows for each in rejects) == 5 + CHANGES
    assert {"the filter is null", "the subscription's id is null"} < {
        each.error for each in rejects
    }
    assert len(rejects) == 5
    assert summary.stream.dead_letters == sum(each.rows for each in letters) == EVENTS // 500
    assert {"the event has no id", "the event is null"} < {each.error for each in letters}
    assert len(letters) == 5


def test_there_is_a_picture(result, folder):
    assert (folder / "summary.png").read_bytes().startswith(b"\x89PNG")
    assert f"picture: {folder / 'summary.png'}" in result.output


@pytest.mark.long
def test_it_can_be_run_again(spark, result, folder):
    (folder / "from the last time").touch()
    (figures,) = run(*SMALL, "--output", folder, "--json").json
    assert figures["stream"]["events"] == EVENTS
    assert not (folder / "from the last time").exists()


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "thesis").touch()
    result = run(*SMALL, "--output", tmp_path)
    assert (result.code, result.output) == (2, "")
    assert "holds something else than a demo: choose another --output" in result.errors
    assert (tmp_path / "thesis").exists()


def test_a_file_in_the_way_is_told(tmp_path):
    (tmp_path / "file").touch()
    result = run(*SMALL, "--output", tmp_path / "file")
    assert (result.code, result.output) == (2, "")
    assert "Traceback" not in result.errors


@pytest.mark.long
@pytest.mark.timeout(300)
def test_an_interrupt_stops_it_quietly(tmp_path):
    process = subprocess.Popen(
        [*BOOLCAST, *map(str, SMALL), "--output", tmp_path / "demo"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**ENVIRONMENT, "PYTHONUNBUFFERED": "1"},
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        while not process.stdout.readline().startswith("indexed "):
            assert process.poll() is None
        # As the terminal does: to the whole group, Java and the workers included.
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    finally:
        process.kill()
    assert (process.returncode, errors) == (130, "interrupted\n")


def test_slices_hold_every_row_once():
    assert slices(10, 4) == [range(4), range(4, 8), range(8, 10)]
    assert slices(8, 4) == [range(4), range(4, 8)]
