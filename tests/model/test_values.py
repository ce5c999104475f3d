"""Kinds and timestamps."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.model.values import Kind, Opaque, Timestamp, kind_of
from tests.strategies import KINDS, values

MOMENTS = st.datetimes(timezones=st.just(UTC))


@given(MOMENTS)
def test_timestamps_print_and_read_back(moment):
    timestamp = Timestamp.from_datetime(moment)
    assert Timestamp.parse(str(timestamp)) == timestamp
    assert datetime.fromisoformat(str(timestamp)) == moment


@given(MOMENTS, MOMENTS)
def test_timestamps_order_as_datetimes(one, other):
    assert (Timestamp.from_datetime(one) < Timestamp.from_datetime(other)) is (one < other)


@given(MOMENTS, st.integers(-23 * 60 - 59, 23 * 60 + 59))
def test_zones(moment, minutes):
    sign = "-" if minutes < 0 else "+"
    zone = f"{sign}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
    text = moment.replace(tzinfo=None).isoformat() + zone
    expected = Timestamp.from_datetime(moment).microseconds - minutes * 60_000_000
    if Timestamp(expected).has_text:
        assert Timestamp.parse(text).microseconds == expected
    else:
        with pytest.raises(ValueError, match="between 0001 and 9999"):
            Timestamp.parse(text)


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("1970-01-01", 0),
        ("1970-01-01T00:00", 0),
        ("1970-01-01 00:00:01", 1_000_000),
        ("1970-01-01t00:00:00.5z", 500_000),
        ("1970-01-01T00:00:00.0000019", 1),
        ("1969-12-31T23:59:59.9999999", -1),
        ("1970-01-01T01:00+01:00", 0),
    ],
)
def test_forms_that_are_read(text, microseconds):
    assert Timestamp.parse(text).microseconds == microseconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1970",
        "1970-1-1",
        "1970-01-01T",
        "1970-01-01T00",
        "1970-01-01T00:00:00.",
        "1970-01-01T00:00:00.1234567890",
        "1970-01-01Z",
        "1970-01-01T00:00:00+1",
        "1970-01-01T00:00:00+24:00",
        "1970-01-01T00:00:00+01:60",
        "1970-01-01T00:00:60Z",
        "1970-01-01T24:00:00Z",
        "1970-13-01",
        "0000-01-01",
        "1970-01-01T00:00:00Z ",
        " 1970-01-01",
        "١٩٧٠-01-01",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
    ],
)
def test_forms_that_are_not(text):
    with pytest.raises(ValueError, match=r"\w"):
        Timestamp.parse(text)


def test_a_timestamp_past_the_calendar_is_shown_as_a_number():
    late = Timestamp(2**62)
    assert not late.has_text
    assert str(late) == "4611686018427387904 microseconds since 1970"


def test_a_datetime_without_a_zone_is_utc():
    naive = datetime(2026, 1, 31, 12)  # noqa: DTZ001 - this is what is tested
    assert Timestamp.from_datetime(naive) == Timestamp.from_datetime(naive.replace(tzinfo=UTC))
    assert Timestamp.from_datetime(naive - timedelta(days=365_000)).microseconds < 0


@given(st.data(), st.sampled_from(KINDS))
def test_kinds(data, kind):
    assert kind_of(data.draw(values(kind))) is kind


def test_the_kind_of_what_has_none():
    assert kind_of(Opaque("list")) is Kind.OPAQUE
