"""What `match_batch` and `add_many` are given: other types are refused at the call."""

import pyarrow as pa
import pytest

from boolcast.errors import UsageError
from boolcast.matching.matcher import Matcher

TABLE = pa.table({"subscription": ["a", "b"], "filter": ["x = 1", "x = 2"]})
OTHERS = ["{}", [{}], {"a": 1}, None, bytearray(b"{}"), pa.array([1])]


@pytest.mark.parametrize("given", OTHERS, ids=lambda given: type(given).__name__)
def test_other_types_are_refused_at_the_call(given):
    for take in (Matcher().match_batch, Matcher().add_many):
        with pytest.raises(UsageError, match=f"given: {type(given).__name__}"):
            take(given)


def test_a_reader_is_taken():
    matcher = Matcher()
    assert matcher.add_many(TABLE.to_reader(1)).num_rows == 0
    assert matcher.match({"x": 2}) == ["b"]


@pytest.mark.parametrize("rows", [TABLE, TABLE.to_batches()[0]], ids=["table", "batch"])
def test_columns_that_hold_no_text_are_refused(rows):
    doubled = rows.append_column("filter", rows.column("filter"))
    with pytest.raises(UsageError, match="several columns filter"):
        Matcher().add_many(doubled)
    lists = rows.set_column(1, "filter", pa.array([["x"], []]))
    with pytest.raises(UsageError, match="the column filter cannot be read as text"):
        Matcher().add_many(lists)


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view()], ids=str)
def test_bytes_that_are_no_text_are_rejected(kind):
    ids = pa.array([b"a", b"\xff"], kind)
    matcher = Matcher()
    rejects = matcher.add_many(pa.table({"subscription": ids, "filter": ["x = 1", "x = 1"]}))
    assert [(each["row"], each["error"]) for each in rejects.to_pylist()] == [
        (1, "the subscription is not UTF-8")
    ]
    assert matcher.match({"x": 1}) == ["a"]


def test_blank_lines_are_numbered_and_skipped():
    lines = b'\n{"subscription": "a", "filter": "x = 1"}\n  \nnonsense\n\n'
    matcher = Matcher()
    assert matcher.add_many(lines)["row"].to_pylist() == [3]
    assert matcher.match({"x": 1}) == ["a"]


@pytest.mark.parametrize(
    "rows",
    [
        b'{"subscription": 7, "filter": "x = 1"}',
        pa.table({"subscription": [7], "filter": ["x = 1"]}),
    ],
    ids=["line", "column"],
)
def test_a_number_as_an_id_is_its_text(rows):
    matcher = Matcher()
    assert matcher.add_many(rows).num_rows == 0
    assert matcher.match({"x": 1}) == ["7"]
