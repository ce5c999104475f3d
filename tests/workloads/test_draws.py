import math

import numpy as np
import pytest

from boolcast.workloads.draws import (
    Draws,
    batches_of_rows,
    cumulative_shares,
    lognormal_quantiles,
    splitmix64,
    zipf_shares,
)

ROWS = np.arange(200_000, dtype=np.uint64)


def test_splitmix64_gives_the_published_sequence():
    # The reference outputs for the seed 1234567, as in the generator's common test vector.
    assert splitmix64(1234567, ROWS[:5]).tolist() == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def splitmix64_in_python(key: int, row: int) -> int:
    z = (key + (row + 1) * 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return z ^ z >> 31


@pytest.mark.parametrize("key", [0, 1, 2**64 - 1])
@pytest.mark.parametrize("row", [0, 2**32, 2**63 - 1, 2**64 - 2])
def test_any_row_is_reached_directly(key, row):
    drawn = splitmix64(key, np.array([row], np.uint64))
    assert drawn.tolist() == [splitmix64_in_python(key, row)]


def test_streams_and_seeds_have_nothing_in_common():
    drawn = [
        Draws(seed).fractions(stream, ROWS)
        for seed in (0, 1, -1, 10**30)
        for stream in ("event.price", "event.title")
    ]
    correlations = np.corrcoef(drawn) - np.eye(len(drawn))
    # Five standard errors.
    assert np.abs(correlations).max() < 5 / math.sqrt(len(ROWS))


def test_fractions_are_uniform():
    counts, _ = np.histogram(Draws(1).fractions("x", ROWS), bins=100, range=(0, 1))
    assert counts.sum() == len(ROWS)
    chi_square = ((counts - 2_000) ** 2 / 2_000).sum()
    assert 60 < chi_square < 150  # 99 degrees of freedom: mean 99, standard deviation 14


def test_integers_include_both_ends_and_nothing_beyond():
    drawn = Draws(1).integers("x", ROWS, -2, 4)
    values, counts = np.unique(drawn, return_counts=True)
    assert values.tolist() == [-2, -1, 0, 1, 2, 3, 4]
    assert np.abs(counts / len(ROWS) - 1 / 7).max() < 0.004


class _Largest(Draws):
    def fractions(self, stream, rows):
        return np.full(len(rows), 1 - 2.0**-53)


@pytest.mark.parametrize("size", [1, 3, 7, 200_000, 2**31 - 1, 2**53 - 1, 2**53])
def test_the_largest_fraction_stays_within_the_range(size):
    assert _Largest(1).integers("x", ROWS[:1], 1, size).tolist() == [size]


def test_picks_follow_the_shares():
    drawn = Draws(1).picks("x", ROWS, cumulative_shares([0.5, 0.3, 0.2]))
    shares = np.bincount(drawn, minlength=3) / len(ROWS)
    assert shares == pytest.approx([0.5, 0.3, 0.2], abs=0.005)


def test_zipf_shares_fall_with_the_exponent():
    drawn = Draws(1).picks("x", ROWS, zipf_shares(1_000, 0.8))
    assert drawn.min() == 0
    assert drawn.max() == 999
    weights = np.arange(1, 1_001) ** -0.8
    counts = np.bincount(drawn, minlength=1_000)
    assert counts[:3] / len(ROWS) == pytest.approx(weights[:3] / weights.sum(), rel=0.03)
    assert counts[500:].sum() / len(ROWS) == pytest.approx(
        weights[500:].sum() / weights.sum(), rel=0.03
    )


def test_lognormal_quantiles_have_median_and_deviation():
    table = lognormal_quantiles(300, 0.8)
    assert len(table) == 2**16
    assert np.median(table) == 300
    assert np.log(table).mean() == pytest.approx(math.log(300), abs=0.001)
    assert np.log(table).std() == pytest.approx(0.8, abs=0.001)
    assert lognormal_quantiles(1, 0.8).min() == 1


@pytest.mark.parametrize("count", [0, 1, 2**15 - 1, 2**15, 2**15 + 1, 100_000])
def test_batches_of_rows_are_the_slice(count):
    batches = list(batches_of_rows(5, count))
    assert [row for batch in batches for row in batch.tolist()] == list(range(5, 5 + count))
    assert all(0 < len(batch) <= 2**15 for batch in batches)
