"""`boolcast match`."""

import gzip
import json
import subprocess

import pytest

from boolcast.filters.limits import DEFAULT_LIMITS
from boolcast.filters.parsing import parse
from boolcast.workloads import Auction, AuctionParameters
from tests.cli.running import BOOLCAST, ENVIRONMENT, run

SUBSCRIPTIONS = b"""\
{"subscription": "cheap", "filter": "price < 25"}
{"subscription": "new", "filter": "condition = 'new'", "owner": "somebody"}
"""
EVENTS = b"""\
{"id": "e1", "price": 21, "condition": "new"}
{"id": "e2", "price": 30}

{"id": "e3", "price": 5}
"""
MATCHES = [
    {"event": 1, "subscription": "cheap"},
    {"event": 1, "subscription": "new"},
    {"event": 4, "subscription": "cheap"},
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.jsonl").write_bytes(SUBSCRIPTIONS)
    (tmp_path / "e.jsonl").write_bytes(EVENTS)
    return tmp_path


def match(*arguments: str, stdin: bytes = b"", subscriptions="s.jsonl", events="e.jsonl"):
    return run(
        *("match", "--subscriptions", subscriptions, "--events", events, *arguments), stdin=stdin
    )


def test_matches_are_lines_of_json(folder):
    result = match()
    assert (result.code, result.json) == (0, MATCHES)
    assert result.errors.startswith("3 events, 2 subscriptions, 3 matches in ")


def test_one_of_each_is_counted_in_the_singular(folder):
    (folder / "s.jsonl").write_bytes(SUBSCRIPTIONS.splitlines()[0])
    (folder / "e.jsonl").write_bytes(EVENTS.splitlines()[0])
    assert match().errors.startswith("1 event, 1 subscription, 1 match in ")


def test_it_says_what_the_reference_evaluator_says(folder):
    auction = Auction(AuctionParameters(titles=5, authors=5, categories=3), seed=7)
    subscriptions = auction.subscriptions(0, 30).to_pylist()
    events = auction.events(0, 60).to_pylist()
    (folder / "s.jsonl").write_text("\n".join(map(json.dumps, subscriptions)))
    (folder / "e.jsonl").write_text("\n".join(map(json.dumps, events)))
    expected = [
        {"event": number, "subscription": row["subscription"]}
        for number, event in enumerate(events, 1)
        for row in subscriptions
        if parse(row["filter"]).accepts(event)
    ]
    assert len(expected) > 20
    assert match().json == expected


def test_events_named_by_an_attribute(folder):
    (folder / "e.jsonl").write_bytes(EVENTS + b'{"price": 1}\n{"id": [1], "price": 1}\n')
    result = match("--event-id", "id")
    assert result.code == 1
    assert [each["event"] for each in result.json] == ["e1", "e1", "e3"]
    assert result.errors.splitlines()[:2] == [
        "e.jsonl:5: the event lacks the attribute that names it (at id)",
        "e.jsonl:6: `id` is a list and cannot be an event id",
    ]


def test_each_may_be_standard_input(folder):
    assert match(events="-", stdin=EVENTS).json == MATCHES
    assert match(subscriptions="-", stdin=SUBSCRIPTIONS).json == MATCHES


def test_both_cannot_be_standard_input(folder):
    result = match(subscriptions="-", events="-", stdin=EVENTS)
    assert (result.code, result.output) == (2, "")
    assert "only once" in result.errors


def test_gzip_and_byte_order_mark_and_line_ends(folder):
    (folder / "s.jsonl").write_bytes(gzip.compress(SUBSCRIPTIONS))
    (folder / "e.jsonl").write_bytes(b"\xef\xbb\xbf" + EVENTS.replace(b"\n", b"\r\n").rstrip())
    assert match().json == MATCHES
    assert match(events="-", stdin=gzip.compress(EVENTS)).json == MATCHES


BAD_EVENTS = {
    "truncated": (b'{"price": 5', "the JSON cannot be read: Input data was truncated"),
    "not UTF-8": (b'{"a": "\xff"}', "the text is not valid UTF-8"),
    "no object": (b"[1]", "an event is a JSON object"),
    "a name twice": (b'{"a": {"b": 1}, "a.b": 2}', "the attribute is given twice"),
    "too deep": (b"[" * 100_000, "the JSON nests deeper than 64 levels"),
    "a lone surrogate": (b'{"a": "\\ud800"}', r"the JSON cannot be read: \ud800 is a lone"),
    "a NUL": (b"\0", "the JSON cannot be read"),
}


@pytest.mark.parametrize("name", BAD_EVENTS)
def test_a_bad_event_does_not_stop_the_others(folder, name):
    line, reason = BAD_EVENTS[name]
    (folder / "e.jsonl").write_bytes(b'{"price": 1}\n' + line + b'\n{"price": 2}\n')
    result = match()
    assert result.code == 1
    assert [each["event"] for each in result.json] == [1, 3]
    assert result.errors.startswith(f"e.jsonl:2: {reason}")
    assert result.errors.endswith("; 1 bad line left out\n")


@pytest.mark.parametrize("name", BAD_EVENTS)
def test_a_bad_event_stops_a_strict_match(folder, name):
    line, reason = BAD_EVENTS[name]
    (folder / "e.jsonl").write_bytes(b'{"price": 1}\n' + line + b'\n{"price": 2}\n')
    result = match("--strict")
    assert result.code == 2
    assert [each["event"] for each in result.json] == [1]
    assert result.errors.startswith(f"e.jsonl:2: {reason}")


BAD_SUBSCRIPTIONS = {
    "truncated": (b'{"subscription": "x", "filt', "Input data was truncated; a subscription is"),
    "not UTF-8": (b'{"subscription": "x", "filter": "a = \'\xff\'"}', "not valid UTF-8"),
    "a bad id": (b'{"subscription": "\xff", "filter": "a = 1"}', "not valid UTF-8"),
    "no filter": (b'{"subscription": "x"}', "missing required field `filter`"),
    "no id": (b'{"filter": "a = 1"}', "missing required field `subscription`"),
    "a wrong id": (
        b'{"subscription": [1], "filter": "a = 1"}',
        "`subscription` must be a string or an integer, not array",
    ),
    "a wrong filter": (b'{"subscription": "x", "filter": "a = "}', "\n  a = \n      ^\n"),
    "no text": (b'{"subscription": "x", "filter": 5}', "not the JSON form of a filter"),
    "too deep": (b'{"x": ' + b"[" * 100_000, "the JSON nests too deep"),
    "a surrogate": (b'{"subscription": "x", "filter": "\\ud800"}', r"\ud800 is a lone surrogate"),
    "another filter": (
        b'{"subscription": "cheap", "filter": "a = 1"}',
        "subscription `cheap` is already on line 1 with a different filter; that one is kept.",
    ),
    "a null id": (
        b'{"subscription": null, "filter": "a = 1"}',
        "`subscription` must be a string or an integer, not null; a subscription is a line",
    ),
}


@pytest.mark.parametrize("name", BAD_SUBSCRIPTIONS)
def test_a_bad_subscription_does_not_stop_the_others(folder, name):
    line, reason = BAD_SUBSCRIPTIONS[name]
    first, second = SUBSCRIPTIONS.splitlines()
    (folder / "s.jsonl").write_bytes(b"\n".join([first, line, second]))
    result = match()
    assert (result.code, result.json) == (1, MATCHES)
    assert result.errors.startswith("s.jsonl:2: ")
    assert reason in result.errors


@pytest.mark.parametrize("name", BAD_SUBSCRIPTIONS)
def test_a_bad_subscription_stops_a_strict_match(folder, name):
    line, reason = BAD_SUBSCRIPTIONS[name]
    (folder / "s.jsonl").write_bytes(SUBSCRIPTIONS + line)
    result = match("--strict")
    assert (result.code, result.output) == (2, "")
    assert result.errors.startswith("s.jsonl:3: ")
    assert reason in result.errors


def test_the_same_subscription_twice_is_one(folder):
    (folder / "s.jsonl").write_bytes(
        SUBSCRIPTIONS + b'{"subscription":"new","filter":"condition=\'new\'"}'
    )
    result = match("--strict")
    assert (result.code, result.json) == (0, MATCHES)


def test_a_filter_in_its_json_form_and_a_number_as_id(folder):
    filter = {"type": "comparison", "attribute": "price", "operator": "<", "value": 10}
    (folder / "s.jsonl").write_text(json.dumps({"subscription": 7, "filter": filter}))
    assert match().json == [{"event": 4, "subscription": "7"}]


def test_a_line_without_end_is_left_out(folder, monkeypatch):
    monkeypatch.setattr("boolcast.cli.input.sources.LINE_LIMIT", 100)
    long = b'{"price": 1, "title": "' + b"x" * 1000 + b'"}'
    (folder / "e.jsonl").write_bytes(b"\n".join([b'{"price": 1}', long, b'{"price": 2}', long]))
    result = match()
    assert result.code == 1
    assert [each["event"] for each in result.json] == [1, 3]
    assert result.errors.splitlines()[:2] == [
        "e.jsonl:2: the line is longer than 100 bytes",
        "e.jsonl:4: the line is longer than 100 bytes",
    ]


@pytest.mark.parametrize("size", [99, 100, 101, 102])
def test_the_longest_line(folder, monkeypatch, size):
    monkeypatch.setattr("boolcast.cli.input.sources.LINE_LIMIT", 100)
    line = b'{"price": 1, "title": "' + b"x" * (size - 25) + b'"}'
    assert len(line) == size
    (folder / "e.jsonl").write_bytes(line + b'\n{"price": 2}\n')
    expected = [1, 2] if size <= 100 else [2]
    assert [each["event"] for each in match().json] == expected


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xff\xfe{\0", "the file is in UTF-16; save it as UTF-8"),
        (gzip.compress(EVENTS, mtime=0)[:40], "the gzip data is damaged"),
        (b"\x1f\x8bnonsense", "the gzip data is damaged"),
    ],
    ids=["UTF-16", "half a gzip", "no gzip"],
)
def test_a_file_that_cannot_be_read(folder, data, reason):
    (folder / "e.jsonl").write_bytes(data)
    result = match()
    assert result.code == 2
    assert result.errors.startswith(f"error: e.jsonl: {reason}")


def test_a_missing_file_shows_before_the_work_begins(folder):
    (folder / "s.jsonl").write_bytes(b"nonsense")
    assert match(events="missing") == (2, "", "error: missing: there is no such file\n")


def test_errors_and_summary_as_json(folder):
    (folder / "s.jsonl").write_bytes(SUBSCRIPTIONS + b'{"subscription": "x", "filter": "a = "}')
    result = match("--json")
    assert (result.code, result.json) == (1, MATCHES)
    error, summary = result.json_errors
    assert error["error"]["file"] == "s.jsonl"
    assert error["error"]["line"] == 3
    assert error["error"]["position"] == 4
    assert summary["summary"].pop("seconds") >= 0
    assert summary == {
        "summary": {
            "subscriptions": 2,
            "events": 3,
            "matches": 3,
            "bad_lines": 1,
            "unseen_attributes": [],
        }
    }


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_no_summary_where_it_is_not_wanted(folder, more):
    assert match("--quiet", *more).errors == ""


def test_a_schema_and_a_filter_that_is_printed_too_long_to_be_read_again(folder):
    (folder / "schema.json").write_text('{"attributes": {"price": {"kind": "number"}}}')
    (folder / "e.jsonl").write_text('{"price": 1000005}')
    text = " or ".join(f"price={number}" for number in range(1_000_000, 1_000_950))
    assert len(text) < DEFAULT_LIMITS.text < len(str(parse(text)))
    (folder / "s.jsonl").write_text(json.dumps({"subscription": "long", "filter": text}))
    result = match("--schema", "schema.json")
    assert (result.code, [each["event"] for each in result.json]) == (0, [1]), result.errors


def test_a_schema_counts_for_both(folder):
    schema = {"attributes": {"price": {"kind": "number"}, "t": {"kind": "timestamp"}}}
    (folder / "schema.json").write_text(json.dumps(schema))
    (folder / "s.jsonl").write_text(
        """{"subscription": "old", "filter": "t < timestamp '2026-01-01'"}
        {"subscription": "unknown", "filter": "condition = 'new'"}"""
    )
    (folder / "e.jsonl").write_text('{"t": "2025-01-01T00:00:00Z"}')
    result = match("--schema", "schema.json", "--event-id", "t")
    assert result.json == [{"event": "2025-01-01T00:00:00Z", "subscription": "old"}]
    assert result.errors.startswith("s.jsonl:2: the schema has no attribute `condition`")


@pytest.mark.slow
def test_events_are_matched_as_they_come(folder):
    command = [*BOOLCAST, "match", "-q", "-s", "s.jsonl", "-e", "-"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, env=ENVIRONMENT) as process:
        assert process.stdin
        assert process.stdout
        for number in (1, 2, 3):
            process.stdin.write(b'{"price": 1}\n')
            process.stdin.flush()
            match = json.loads(process.stdout.readline())
            assert match == {"event": number, "subscription": "cheap"}
        process.stdin.close()
        assert process.wait() == 0


@pytest.mark.slow
def test_it_ends_quietly_when_nobody_reads_on(folder):
    (folder / "e.jsonl").write_bytes(b'{"price": 1}\n' * 20_000)
    command = [*BOOLCAST, "match", "-s", "s.jsonl", "-e", "e.jsonl"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, env=ENVIRONMENT) as process:
        assert process.stdout
        assert process.stderr
        assert json.loads(process.stdout.readline())["event"] == 1
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


def test_a_misspelled_attribute_is_a_warning(folder):
    (folder / "s.jsonl").write_bytes(
        SUBSCRIPTIONS + b'{"subscription": "x", "filter": "prise < 5"}'
    )
    *_, warning, summary = match().errors.splitlines()
    assert warning == "warning: `prise` was in 0 of 3 events; did you mean `price`?"
    assert summary.startswith("3 events, 3 subscriptions, 3 matches in ")
    (line,) = match("--json").json_errors
    assert line["summary"]["unseen_attributes"] == [
        {"attribute": "prise", "events": 3, "filters": 1, "suggestion": "price"}
    ]
    assert match("--quiet").errors == ""


def test_of_many_misspelled_attributes_some_are_shown(folder):
    lines = [f'{{"subscription": {row}, "filter": "x{row} = 1"}}' for row in range(30)]
    (folder / "s.jsonl").write_text("\n".join(lines))
    warnings = [line for line in match().errors.splitlines() if line.startswith("warning: ")]
    assert len(warnings) == 11
    assert warnings[-1] == "warning: 20 more attributes were in no event"


def test_large_batches_say_what_the_reference_evaluator_says(folder):
    """More events than the matcher learns from, in several reads, with bad lines among them."""
    auction = Auction(AuctionParameters(titles=5, authors=5, categories=3), seed=7)
    subscriptions = auction.subscriptions(0, 30).to_pylist()
    events = [json.dumps(event) for event in auction.events(0, 5_000).to_pylist()]
    bad = {1_000: "{", 1_001: "", 4_500: "[]"}
    lines = [bad.get(number, event) for number, event in enumerate(events, 1)]
    (folder / "s.jsonl").write_text("\n".join(map(json.dumps, subscriptions)))
    (folder / "e.jsonl").write_text("\n".join(lines))
    filters = {row["subscription"]: parse(row["filter"]) for row in subscriptions}
    expected = [
        {"event": number, "subscription": name}
        for number, line in enumerate(lines, 1)
        if number not in bad
        for name, filter in filters.items()
        if filter.accepts(json.loads(line))
    ]
    result = match()
    assert result.json == expected
    assert [line.split(" ")[0] for line in result.errors.splitlines()[:2]] == [
        "e.jsonl:1000:",
        "e.jsonl:4500:",
    ]


def test_a_line_after_a_bad_one_of_the_same_id_counts(folder):
    (folder / "s.jsonl").write_bytes(
        b"""{"subscription": "b", "filter": "price >= 0"}
        {"subscription": "a", "filter": "price <"}
        {"subscription": "c", "filter": "price >= 0"}
        {"subscription": "a", "filter": "price >= 0"}
        {"subscription": "a", "filter": "price < 0"}
        {"subscription": "a", "filter": "price <"}
        """
    )
    (folder / "e.jsonl").write_bytes(b'{"price": 1}')
    result = match()
    assert [each["subscription"] for each in result.json] == ["b", "c", "a"]
    reported = [line for line in result.errors.splitlines() if line.startswith("s.jsonl:")]
    assert [line.split(" ")[0] for line in reported] == ["s.jsonl:2:", "s.jsonl:5:", "s.jsonl:6:"]
    assert "`a` is already on line 4 with a different filter" in reported[1]
