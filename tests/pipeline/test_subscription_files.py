"""What a line of subscriptions says, or why it cannot be read, without Spark around it."""

import json

import pyarrow as pa
import pytest

from boolcast.pipeline.index.subscription_files import decode_lines


def rows(*lines, order=None):
    encoded = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    batch = pa.record_batch({"value": pa.array(encoded, pa.binary())})
    (read,) = decode_lines([batch], order=order)
    return read.to_pylist()


def test_filters_are_text_or_json():
    comparison = {"type": "comparison", "attribute": "x", "operator": "<", "value": 2}
    found = rows(
        {"subscription": "a", "filter": "x = 'é'"}, {"subscription": 7, "filter": comparison}
    )
    assert [(row["subscription"], row["filter"]) for row in found] == [
        ("a", "x = 'é'"),
        ("7", "x < 2"),
    ]
    assert [(row["operation"], row["problem"], row["rank"]) for row in found] == [
        ("upsert", None, None)
    ] * 2
    assert rows() == []


@pytest.mark.parametrize(
    ("members", "operation", "problem"),
    [
        ({"filter": None}, "delete", None),
        ({"filter": None, "operation": "upsert"}, "upsert", None),
        ({"operation": "delete"}, "delete", None),
        ({"filter": {"type": "heap"}, "operation": "delete"}, "delete", None),
        ({"filter": "x = 1", "operation": "insert"}, "insert", None),
        # A misspelt member must not delete.
        ({"fliter": "x = 1"}, "upsert", "the line has no filter"),
    ],
)
def test_what_a_line_asks_for(members, operation, problem):
    (row,) = rows({"subscription": "a", **members})
    assert (row["subscription"], row["operation"], row["problem"]) == ("a", operation, problem)


@pytest.mark.parametrize(
    ("line", "text", "problem"),
    [
        (b"nonsense", "nonsense", "the JSON cannot be read: "),
        (b"[]", "[]", "the JSON cannot be read: "),
        (b'{"subscription": null}', '{"subscription": null}', "`subscription` must be a string or"),
        (b'{"filter": "x = 1"}', '{"filter": "x = 1"}', "the JSON cannot be read: "),
        (b'{"subscription": "\xff"}', '{"subscription": "\ufffd"}', "the text is not valid UTF-8"),
        (b"[" * 5_000, "[" * 5_000, "the JSON "),
    ],
)
def test_a_line_that_cannot_be_read_is_its_own_filter(line, text, problem):
    (row,) = rows(line)
    assert (row["subscription"], row["filter"]) == (None, text)
    assert row["problem"].startswith(problem)


def test_ranks_of_numbers_and_strings():
    values = [2**53, 2**53 + 1, 2**70, 1.5, True, "x", None]
    found = rows(
        *({"subscription": "a", "filter": "true", "at": each} for each in values), order="at"
    )
    ranks = [row["rank"] and tuple(row["rank"].values()) for row in found]
    assert ranks == [
        (2.0**53, 2**53, None),
        (2.0**53, 2**53 + 1, None),
        (2.0**70, None, None),
        (1.5, None, None),
        (1.0, 1, None),
        (None, None, "x"),
        None,
    ]
    (absent, nested) = rows(
        {"subscription": "a", "filter": "true"},
        {"subscription": "a", "filter": "true", "at": [1]},
        order="at",
    )
    assert (absent["rank"], absent["problem"]) == (None, None)
    assert nested["problem"] == "at is neither a number nor a string, so it has no order"
