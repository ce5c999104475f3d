"""Random numbers that are a function of seed, stream and row, and of nothing else.

A *stream* is the sequence of draws for one quantity, such as `event.price`. Its key is the
64-bit BLAKE2b digest of "seed/stream", and the draw for row i is the i-th output of the
generator SplitMix64 started at that key. SplitMix64 only adds a constant to its state and
scrambles the sum, so any output is reached directly and rows can be drawn in any order, in
any batches, on any machine.

    z = key + (i + 1) · 0x9E3779B97F4A7C15
    z = (z ⊕ z >> 30) · 0xBF58476D1CE4E5B9
    z = (z ⊕ z >> 27) · 0x94D049BB133111EB
    bits = z ⊕ z >> 31                               (all modulo 2⁶⁴)

All streams lie on the one cycle of 2⁶⁴ states: that two of 40 streams overlap within the
first 10⁹ rows has a probability below 10⁻⁷.

Laws that are not uniform go through tables, made once, so that no draw depends on how numpy
rounds a power at the edge of a batch. Processors may differ in the last bit of Zipf's table,
which moves about one title in 10⁸ by one place.
"""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.uint64]

_INCREMENT: Final = np.uint64(0x9E3779B97F4A7C15)
_FIRST_FACTOR: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND_FACTOR: Final = np.uint64(0x94D049BB133111EB)
_QUANTILE_BITS: Final = 16
_BATCH: Final = 1 << 15


def batches_of_rows(start: int, count: int) -> Iterator[Rows]:
    """The numbers of `count` rows from `start` on, in arrays that a processor's cache holds."""
    for first in range(start, start + count, _BATCH):
        yield np.arange(first, min(first + _BATCH, start + count), dtype=np.uint64)


class Draws:
    """All streams of one seed, which may be any integer."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def bits(self, stream: str, rows: Rows) -> NDArray[np.uint64]:
        """64 random bits a row."""
        digest = blake2b(f"{self._seed}/{stream}".encode(), digest_size=8).digest()
        return splitmix64(int.from_bytes(digest, "little"), rows)

    def fractions(self, stream: str, rows: Rows) -> NDArray[np.float64]:
        """Uniform in [0, 1), in steps of 2⁻⁵³."""
        return (self.bits(stream, rows) >> np.uint64(11)) * np.float64(2.0**-53)

    def integers(self, stream: str, rows: Rows, low: int, high: int) -> NDArray[np.int64]:
        """Uniform from `low` to `high`, both included and at most 2⁵³ apart."""
        # A fraction below 1 times the number of values rounds to less than that number.
        numbers = (self.fractions(stream, rows) * (high - low + 1)).astype(np.int64)
        numbers += low
        return numbers

    def picks(self, stream: str, rows: Rows, cumulative: NDArray[np.float64]) -> NDArray[np.int64]:
        """Indexes by the shares whose running sums, the last left out, are `cumulative`."""
        return np.searchsorted(cumulative, self.fractions(stream, rows), side="right")

    def quantiles(self, stream: str, rows: Rows, table: NDArray[np.int64]) -> NDArray[np.int64]:
        """Entries of a table of 2¹⁶ equally likely values."""
        return np.take(table, self.bits(stream, rows) >> np.uint64(64 - _QUANTILE_BITS))


def splitmix64(key: int, rows: Rows) -> NDArray[np.uint64]:
    """The outputs number `rows`, from 0, of SplitMix64 with the seed `key`."""
    z = rows + np.uint64(1)
    z *= _INCREMENT
    z += np.uint64(key)
    z ^= z >> np.uint64(30)
    z *= _FIRST_FACTOR
    z ^= z >> np.uint64(27)
    z *= _SECOND_FACTOR
    z ^= z >> np.uint64(31)
    return z


def cumulative_shares(shares: Sequence[float]) -> NDArray[np.float64]:
    """The running sums that `Draws.picks` takes."""
    assert math.isclose(sum(shares), 1)
    return np.cumsum(np.array(shares[:-1], np.float64))


@lru_cache(maxsize=4)
def zipf_shares(size: int, exponent: float) -> NDArray[np.float64]:
    """The running sums for `size` values, of which the k-th has a share in proportion to k⁻ˢ."""
    sums: NDArray[np.float64] = np.cumsum(np.arange(1, size + 1, dtype=np.float64) ** -exponent)
    sums /= sums[-1]
    return sums[:-1]


@lru_cache(maxsize=4)
def lognormal_quantiles(median: int, sigma: float) -> NDArray[np.int64]:
    """The table of a lognormal law, in whole numbers from 1 on.

    Its 2¹⁶ entries are the quantiles in the middle of as many equal slices, so the law ends
    4.3 standard deviations from the median on either side.
    """
    size = 1 << _QUANTILE_BITS
    logarithms = NormalDist(math.log(median), sigma)
    values = (math.exp(logarithms.inv_cdf((entry + 0.5) / size)) for entry in range(size))
    return np.fromiter((max(1, round(value)) for value in values), np.int64, size)
