"""Constants as arrays: ranking, uniting and storing them, beside Python's own sorting."""

from bisect import bisect_left, bisect_right
from itertools import chain

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.algebra.ordered_sets import MISSING, STRING, after, before
from boolcast.matching.inputs.encoding import Columns
from boolcast.matching.matcher import Matcher
from boolcast.matching.store.array_packing import pack, unpack
from boolcast.matching.values.constants import Numbers, Strings, buffers_of, stem_of
from boolcast.matching.values.kernels import AFTER, BEFORE
from boolcast.matching.values.kernels.array_operations import copy_runs, count_numbers, number_rows
from boolcast.matching.values.kernels.ranking import compare, fill_table, find, hash_of, split
from boolcast.matching.values.rank_tables import Spaces
from boolcast.matching.values.ranks import RankSpace

# Prefixes of each other, NUL, lengths around a word of eight bytes, and characters whose UTF-16
# order differs from that of code points.
TEXTS = ["", "\0", "a", "a\0", "a\0\0", "ab", "abcdefgh", "abcdefgh\0", "abcdefghi", "abcdefg",
         "é", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff", "z" * 40]  # fmt: skip

texts = st.one_of(
    st.sampled_from(TEXTS),
    st.text(st.sampled_from("ab\0é\U00010000"), max_size=10),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
)
integers = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.builds(
        lambda exponent, sign, offset: min(max(sign * 2**exponent + offset, -(2**63)), 2**63 - 1),
        st.integers(50, 63),
        st.sampled_from([-1, 1]),
        st.integers(-1_025, 1_025),
    ),
)
numbers = st.one_of(integers, st.floats(allow_nan=False), integers.map(float))


def arrow_forms(values: list[str | None]) -> list[pa.Array]:
    """One column in every form that Arrow has for it."""
    plain = pa.array(values, pa.string())
    padded = pa.array(["padding", None, *values, "padding"], pa.string())
    distinct = list(dict.fromkeys([*values, None, "unused"]))
    codes = pa.array([distinct.index(value) for value in values], pa.int8())
    holes = pa.array([distinct.index(v) if v is not None else None for v in values], pa.int16())
    return [
        plain,
        plain.cast(pa.large_string()),
        padded.slice(2, len(values)),
        padded.cast(pa.large_string()).slice(2, len(values)),
        plain.dictionary_encode(),
        padded.dictionary_encode().slice(2, len(values)),
        pa.DictionaryArray.from_arrays(codes, pa.array(distinct, pa.string())),
        pa.DictionaryArray.from_arrays(holes, pa.array(distinct, pa.large_string())),
        plain.cast(pa.string_view()),
    ]


class TestStrings:
    @given(st.lists(texts, max_size=12), st.lists(texts | st.none(), max_size=12))
    def test_ranks_count_the_cuts_up_to_a_string(self, constants, values):
        cuts = sorted({cut for text in constants for cut in (before(text), after(text))})
        space = RankSpace.of_boundaries(cuts)
        everything = sorted({(MISSING,), *cuts})
        expected = [
            1 if value is None else bisect_right(everything, (STRING, value)) for value in values
        ]
        assert [space.rank(value) for value in values] == expected
        spaces = Spaces({"text": space})
        for column in arrow_forms(values):
            encoded = Columns(len(values), {"text": column})
            ranks = encoded.encode(spaces, np.full(2, -1, dtype=np.int32)).ranks
            assert ranks[:, spaces.index["text"]].tolist() == expected, column.type

    @given(st.sets(texts.filter(bool), max_size=12), st.lists(texts, max_size=12))
    def test_without_order_only_equal_strings_lie_between_their_cuts(self, constants, values):
        cuts = {cut for text in constants for cut in (before(text), after(text))}
        space = RankSpace.of_boundaries(cuts, is_ordered=False)
        ranks = space.string_ranks(pa.array(values, pa.string())).tolist()
        assert ranks == [space.rank(value) for value in values]
        for constant in constants:
            low, high = space.positions([before(constant), after(constant)]).tolist()
            assert [low <= rank < high for rank in ranks] == [text == constant for text in values]

    def test_many_strings_are_found_singly_and_in_columns(self):
        """More than are looked up in Python, so that the kernels are asked for each."""
        constants = [f"{number:x}" * (number % 5 + 1) for number in range(3_000)]
        cuts = {cut for text in constants for cut in (before(text), after(text))}
        everything = sorted({(MISSING,), *cuts})
        values = [*constants[::7], "", "zzz", "0f0f0f0f0f", "\0"]
        expected = [bisect_right(everything, (STRING, value)) for value in values]
        for is_ordered in (True, False):
            space = RankSpace.of_boundaries(cuts, is_ordered=is_ordered)
            known = len(constants[::7]) if not is_ordered else len(values)
            assert [space.rank(value) for value in values][:known] == expected[:known]
            column = space.string_ranks(pa.array(values, pa.string())).tolist()
            assert column == [space.rank(value) for value in values]
            last = space.string + space.strings.boundaries
            assert is_ordered or column[known:] == [last] * 4

    @given(st.lists(texts, max_size=12), st.lists(texts, max_size=12))
    def test_united_strings_are_sorted_and_keep_their_flags(self, left, right):
        one, other = Strings.of_boundaries(left), Strings.of_boundaries(right)
        united, from_left, from_right = one.united(other)
        expected: dict[str, int] = {}
        for stem, flag in map(stem_of, left + right):
            expected[stem] = expected.get(stem, 0) | flag
        assert united.texts() == sorted(expected)
        assert united.flags.tolist() == [expected[stem] for stem in sorted(expected)]
        assert [united.texts()[at] for at in from_left] == one.texts()
        assert [united.texts()[at] for at in from_right] == other.texts()

    @given(st.sets(texts, min_size=1, max_size=40), st.lists(texts, max_size=20))
    def test_a_table_with_one_free_slot_finds_every_string(self, constants, values):
        """So full that nearly every string collides with others."""
        ordered = sorted(constants)
        offsets, data = buffers_of(pa.array(ordered, pa.large_string()))
        capacity = 1 << len(ordered).bit_length()
        table = np.zeros(capacity, dtype=np.uint64)
        assert fill_table(offsets, data, table, 1, capacity)
        for value in [*ordered, *values]:
            encoded = np.frombuffer(b"_" + value.encode(), np.uint8)
            number = find(encoded, 1, len(encoded), offsets, data, table, 1)
            assert number == (ordered.index(value) if value in constants else -1)

    @pytest.mark.parametrize("other", ["ab", "cde", "c", ""])
    def test_a_string_with_the_same_hash_is_not_taken_for_another(self, other):
        """A table made by hand: where "cd" is looked for first, the other one claims its hash."""
        offsets, data = buffers_of(pa.array([other, "cd"], pa.large_string()))
        mixed = int(hash_of(np.frombuffer(b"cd", np.uint8), 0, 2, 0))
        tag = mixed >> 32 << 32
        table = np.zeros(8, dtype=np.uint64)
        table[mixed % 8] = tag | 1
        table[(mixed + 1) % 8] = tag | 2
        assert find(np.frombuffer(b"cd", np.uint8), 0, 2, offsets, data, table, 0) == 1
        table[(mixed + 1) % 8] = 0
        assert find(np.frombuffer(b"cd", np.uint8), 0, 2, offsets, data, table, 0) == -1

    def test_strings_with_long_searches_ask_for_another_seed(self):
        offsets, data = buffers_of(pa.array([f"{n}" for n in range(63)], pa.large_string()))
        assert not fill_table(offsets, data, np.zeros(64, np.uint64), 0, 1)
        assert fill_table(offsets, data, np.zeros(64, np.uint64), 0, 64)

    @given(texts, texts)
    def test_bytes_compare_as_code_points_do(self, left, right):
        one, other = (np.frombuffer(b"_" + text.encode(), np.uint8) for text in (left, right))
        order = compare(one, 1, len(one), other, 1, len(other))
        assert (order > 0) - (order < 0) == (left > right) - (left < right)

    def test_an_equality_takes_one_string_for_both_of_its_cuts(self):
        strings = Strings.of_boundaries(["b", "b\0", "a\0", "c"])
        assert strings.texts() == ["a", "b", "c"]
        assert strings.flags.tolist() == [AFTER, BEFORE | AFTER, BEFORE]
        assert strings.positions(["a\0", "b", "b\0", "c"]).tolist() == [1, 2, 3, 4]


class TestNumbers:
    @given(integers)
    def test_a_pair_is_the_float_below_and_the_rest(self, value):
        high, low = split(value)
        assert int(high) + low == value
        assert 0 <= low < 1_024
        assert float(np.nextafter(high, np.inf)) > value

    @given(st.lists(numbers, max_size=12), st.lists(numbers, max_size=12))
    def test_ranks_are_exact(self, constants, values):
        known = sorted(set(constants))
        pairs = Numbers.of(list(set(constants)))
        assert pairs.values() == known
        expected = [bisect_right(known, value) for value in values]
        assert [pairs.rank(value) for value in values] == expected
        assert pairs.ranks(values).tolist() == expected
        whole = [value for value in values if type(value) is int]
        broken = [value for value in values if type(value) is float]
        assert pairs.integer_ranks(np.array(whole, np.int64), 7).tolist() == [
            7 + bisect_right(known, value) for value in whole
        ]
        ranks = pairs.float_ranks(np.array([*broken, np.nan], np.float64), 7, 3).tolist()
        assert ranks == [*(7 + bisect_right(known, value) for value in broken), 3]

    def test_many_numbers_are_ranked_singly(self):
        """More than are looked up in Python."""
        known = sorted({2**53 + number for number in range(2_000)} | {0.5, -1})
        pairs = Numbers.of(known)
        values = [*known[::13], 2.0**53, 2**53 + 5_000, -5, 0.25, float("inf"), -(2**63)]
        assert [pairs.rank(value) for value in values] == [bisect_right(known, v) for v in values]

    @given(st.sets(numbers, max_size=12), st.sets(numbers, max_size=12))
    def test_united_numbers_are_sorted(self, left, right):
        one, other = Numbers.of(list(left)), Numbers.of(list(right))
        united, from_left, from_right = one.united(other)
        expected = sorted(left | right)
        assert united.values() == expected
        assert from_left.tolist() == [bisect_left(expected, value) for value in sorted(left)]
        assert from_right.tolist() == [bisect_left(expected, value) for value in sorted(right)]


@given(st.lists(st.integers(0, 3), max_size=20), st.integers(1, 3), st.data())
def test_equal_rows_get_one_number(values, columns, data):
    rows = np.array(
        [[data.draw(st.integers(0, 2)) for _ in range(columns)] for _ in values], np.int32
    ).reshape(-1, columns)
    first, which = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    table = np.zeros(1 << len(rows).bit_length(), np.int32)
    count = number_rows(rows, table, first, which)
    seen: dict[tuple[int, ...], int] = {}
    assert which.tolist() == [seen.setdefault(tuple(row), len(seen)) for row in rows.tolist()]
    assert count == len(seen)
    assert [tuple(rows[at].tolist()) for at in first[:count]] == list(seen)


def test_runs_are_copied_one_behind_the_other():
    rows = np.arange(40, dtype=np.int32).reshape(10, 4)
    starts, sizes = np.array([7, 0, 4, 9]), np.array([2, 1, 0, 1])
    copied = np.empty((4, 4), dtype=np.int32)
    copy_runs(rows, starts, sizes, copied)
    assert (copied == rows[[7, 8, 0, 9]]).all()


def test_packed_arrays_come_back_as_aligned_views():
    arrays: dict[str, np.ndarray] = {
        "bytes": np.arange(3, dtype=np.uint8),
        "none": np.zeros((0, 4), dtype=np.int32),
        "table": np.arange(6, dtype=np.float64).reshape(2, 3),
        "one": np.array([5], dtype=np.int16),
    }
    packed, sections = pack(arrays)
    again = unpack(packed, sections)
    assert list(again) == list(arrays)
    for name, array in arrays.items():
        assert again[name].dtype == array.dtype
        assert again[name].shape == array.shape
        assert (again[name] == array).all()
        assert np.shares_memory(again[name], packed) or not array.size
    with pytest.raises(ValueError, match=r"size|reshape|cannot"):
        unpack(packed[:-64], sections)


def test_loaded_spaces_are_mapped_not_copied(tmp_path):
    matcher = Matcher()
    for number in range(50):
        matcher.add(f"s{number}", f"title = 'book {number}' and price < {number} and at is null")
    matcher.save(tmp_path / "index")
    (live,) = Matcher.load(tmp_path / "index")._state.segments
    title = live.spaces.spaces[live.spaces.index["title"]]
    price = live.spaces.spaces[live.spaces.index["price"]]
    assert len(title.strings) == 50
    assert len(price.numbers) == 50
    strings = title.strings
    for array in (strings.data, strings.offsets, strings.flags, strings.starts,
                  strings.table.slots, price.numbers.highs, price.numbers.lows,
                  live.segment.code):  # fmt: skip
        assert not array.flags.owndata
        assert not array.flags.writeable
        assert array.flags.aligned


@given(st.lists(st.lists(st.integers(0, 9))))
def test_numbers_are_counted(pieces):
    counts = np.zeros(10, dtype=np.int64)
    for piece in pieces:
        count_numbers(np.array(piece, dtype=np.int32), counts)
    assert counts.tolist() == np.bincount(list(chain(*pieces)), minlength=10).tolist()
