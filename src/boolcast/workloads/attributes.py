"""The 30 attributes of the diverse workload: their values, and how often they are missing.

=============== ====================================== ========= ============== =======
attribute       values                                 of them   drawn          missing
=============== ====================================== ========= ============== =======
account         `account 17`                           100,000   uniformly
device          `device 17`                            50,000    uniformly      10 %
product         `product 17`                           20,000    by Zipf, 0.8
merchant        `merchant 17`                          5,000     uniformly      5 %
city            `city 17`                              2,000     by Zipf, 0.8   10 %
campaign        `campaign 17`                          1,000     uniformly      50 %
host            `host 17`                              500       uniformly
brand           `brand 17`                             300       uniformly      5 %
country         `country 17`                           200       by Zipf, 0.8
category        `category 17`                          100       uniformly
service         `service 17`                           50        uniformly
region          `region 17`                            25        uniformly      2 %
channel         `channel 7`                            12        uniformly
status          `status 7`                             8         uniformly
level           `level 3`                              5         uniformly      10 %
currency        `currency 3`                           4         uniformly
path            `/07/13/02`                            8,000     uniformly      10 %
postcode        `0471`                                 10,000    uniformly      5 %
member, mobile  booleans                               2         uniformly      0, 20 %
age             18 to 97                               80        uniformly      20 %
quantity        1 to 50                                50        uniformly
priority        1 to 10                                10        uniformly      30 %
score           0 to 999                               1,000     uniformly      5 %
amount          cents, median 2,000                    11,000    lognormal, 0.8
latency         milliseconds, median 80                1,500     lognormal, 1   10 %
temperature     -20.0 to 39.9, in tenths               600       uniformly      25 %
rating          1.0 to 5.0, in tenths                  41        uniformly      40 %
created         the hours of 2026                      8,760     uniformly
expires         the days of 2027                       365       uniformly      50 %
=============== ====================================== ========= ============== =======

The attributes of an event are independent of each other.
"""

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import Final, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from boolcast.filters.words import value_text
from boolcast.model.values import Timestamp, Value
from boolcast.workloads.draws import Draws, Rows, lognormal_quantiles, zipf_shares

_HOUR: Final = 3_600_000_000
_NEW_YEAR_2026: Final = Timestamp.parse("2026-01-01").microseconds
_NEW_YEAR_2027: Final = Timestamp.parse("2027-01-01").microseconds


class Operands:
    """What predicates compare an attribute with, numbered; `texts` are the literals."""

    def __init__(self, values: Sequence[Value]) -> None:
        self.values = values
        self.size = len(values)

    @cached_property
    def texts(self) -> list[str]:
        return [value_text(value) for value in self.values]


class Attribute(Operands):
    """An attribute by its values; the share `missing` of all events has none of them.

    `zipf` is the exponent by which low numbers are more frequent than high ones, 0 for none.
    Values that `is_ordered` ascend with their number and are equally likely, so that a range of
    them has a known share. `prefixes` are lengths at which equally many values begin alike: the
    beginnings themselves, and as patterns of `like`.
    """

    def __init__(
        self,
        values: Sequence[Value],
        *,
        missing: float = 0.0,
        zipf: float = 0.0,
        is_ordered: bool = False,
        prefixes: Sequence[int] = (),
    ) -> None:
        super().__init__(values)
        self.missing = missing
        self.present = 1 - missing
        self.zipf = zipf
        self.is_ordered = is_ordered
        beginnings = [sorted({str(value)[:length] for value in values}) for length in prefixes]
        self.prefixes = [Operands(texts) for texts in beginnings]
        self.patterns = [Operands([f"{text}%" for text in texts]) for texts in beginnings]

    @cached_property
    def array(self) -> pa.Array:
        """All values as Arrow has them: timestamps with their zone."""
        if isinstance(self.values[0], Timestamp):
            moments = cast("Sequence[Timestamp]", self.values)
            return pa.array([each.microseconds for each in moments]).cast(pa.timestamp("us", "UTC"))
        return pa.array(self.values)

    @property
    def can_be_named(self) -> bool:
        """True if filters use single values: names, and numbers that are few."""
        return isinstance(self.values[0], str | bool) or self.size <= 100

    @property
    def can_be_listed(self) -> bool:
        """True if filters use several values, or all but one."""
        return self.can_be_named and self.size > 2

    @cached_property
    def equal_share(self) -> float:
        """How often two events that have it agree: the share of `=` with a drawn constant."""
        if not self.zipf:
            return 1 / self.size
        shares = np.diff(zipf_shares(self.size, self.zipf), prepend=0.0, append=1.0)
        return float((shares**2).sum())

    @cached_property
    def _cumulative(self) -> NDArray[np.float64]:
        return zipf_shares(self.size, self.zipf)

    def number(self, fraction: float) -> int:
        """The number of the value that a uniform fraction stands for."""
        if self.zipf:
            return int(np.searchsorted(self._cumulative, fraction, side="right"))
        return int(fraction * self.size)

    def column(self, draws: Draws, stream: str, rows: Rows) -> pa.Array:
        """The values of events; null where one has none."""
        if self.zipf:
            numbers = draws.picks(stream, rows, self._cumulative)
        else:
            numbers = draws.integers(stream, rows, 0, self.size - 1)
        lacking = draws.fractions(f"{stream}.missing", rows) < self.missing
        return self.array.take(pa.array(numbers, mask=lacking))


@cache
def attributes() -> Mapping[str, Attribute]:
    """All of them by name; made on first use, because they take 0.2 s."""
    return {
        "account": _labels("account", 100_000),
        "device": _labels("device", 50_000, missing=0.1),
        "product": _labels("product", 20_000, zipf=0.8),
        "merchant": _labels("merchant", 5_000, missing=0.05),
        "city": _labels("city", 2_000, zipf=0.8, missing=0.1),
        "campaign": _labels("campaign", 1_000, missing=0.5),
        "host": _labels("host", 500),
        "brand": _labels("brand", 300, missing=0.05),
        "country": _labels("country", 200, zipf=0.8),
        "category": _labels("category", 100),
        "service": _labels("service", 50),
        "region": _labels("region", 25, missing=0.02),
        "channel": _labels("channel", 12),
        "status": _labels("status", 8),
        "level": _labels("level", 5, missing=0.1),
        "currency": _labels("currency", 4),
        "path": Attribute(
            [f"/{n // 400:02}/{n // 20 % 20:02}/{n % 20:02}" for n in range(8_000)],
            missing=0.1,
            prefixes=(len("/07/"), len("/07/13/")),
        ),
        "postcode": Attribute(
            [f"{n:04}" for n in range(10_000)],
            missing=0.05,
            is_ordered=True,
            prefixes=(1, 2, 3),
        ),
        "member": Attribute([False, True]),
        "mobile": Attribute([False, True], missing=0.2),
        "age": Attribute(range(18, 98), missing=0.2, is_ordered=True),
        "quantity": Attribute(range(1, 51), is_ordered=True),
        "priority": Attribute(range(1, 11), missing=0.3, is_ordered=True),
        "score": Attribute(range(1_000), missing=0.05, is_ordered=True),
        "amount": Attribute(lognormal_quantiles(2_000, 0.8).tolist(), is_ordered=True),
        "latency": Attribute(lognormal_quantiles(80, 1.0).tolist(), missing=0.1, is_ordered=True),
        "temperature": Attribute(
            [(n - 200) / 10 for n in range(600)], missing=0.25, is_ordered=True
        ),
        "rating": Attribute([n / 10 for n in range(10, 51)], missing=0.4, is_ordered=True),
        "created": Attribute(
            [Timestamp(_NEW_YEAR_2026 + n * _HOUR) for n in range(8_760)], is_ordered=True
        ),
        "expires": Attribute(
            [Timestamp(_NEW_YEAR_2027 + n * 24 * _HOUR) for n in range(365)],
            missing=0.5,
            is_ordered=True,
        ),
    }


def _labels(name: str, size: int, *, missing: float = 0.0, zipf: float = 0.0) -> Attribute:
    return Attribute([f"{name} {number}" for number in range(size)], missing=missing, zipf=zipf)
