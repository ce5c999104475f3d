"""The results of benchmarks; `measure` tells them apart as JSON. Null is what is not known.

Seconds are of the processor (`one_core`).
"""

from typing import Literal

import msgspec

from boolcast.lab.benchmarks.choices import EngineName, RivalName, WorkloadName


class BatchFigures(msgspec.Struct, frozen=True, kw_only=True):
    """An engine on a workload, in batches of events from Arrow to Arrow.

    `load_seconds` go from texts to the answer for a first event. `settle_seconds` go into a
    first batch, from which an engine may learn, and into putting that to use. Bytes are per
    subscription: of the structure that is searched, of the constants that are kept to build
    another, of the ids, and of the texts. `times_counting` and `times_scan` say how many times
    as fast as those engines in the same run it was.
    """

    measure: Literal["batch"] = "batch"
    workload: WorkloadName
    subscriptions: int
    engine: EngineName
    events: int
    load_seconds: float
    settle_seconds: float
    events_per_second: float
    microseconds_per_event: float
    candidates_per_event: float | None
    matches_per_event: float
    structure_bytes: float | None
    filter_bytes: float | None
    id_bytes: float | None
    text_bytes: float | None
    times_counting: float | None = None
    times_scan: float | None = None

    @property
    def nanoseconds_per_look(self) -> float | None:
        """The time for each candidate or match."""
        if self.candidates_per_event is None:
            return None
        looks = self.candidates_per_event + self.matches_per_event
        return self.microseconds_per_event * 1_000 / looks if looks else None


class GrowthFigures(msgspec.Struct, frozen=True, kw_only=True):
    """How the time for each candidate or match grows with the subscriptions."""

    measure: Literal["growth"] = "growth"
    workload: WorkloadName
    engine: EngineName
    fewer_subscriptions: int
    more_subscriptions: int
    fewer_nanoseconds: float
    more_nanoseconds: float
    growth: float


class SingleFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Calls of `match` with a dict, on class 1 of the workload `fixed`.

    `microseconds_per_call` is the median over repeats of the mean; the percentiles are of
    single calls by the clock, whose own 0.1 µs they include.
    """

    measure: Literal["single"] = "single"
    subscriptions: int
    engine: EngineName
    calls: int
    microseconds_per_call: float
    median_microseconds: float
    percentile_99_microseconds: float
    matches_per_event: float


class RivalFigures(msgspec.Struct, frozen=True, kw_only=True):
    """A rival, or the access engine itself, on class 1 of the auction.

    Where `subscriptions` are fewer than `scaled_to`, `microseconds_per_event` is as measured
    and `access_is_faster` takes it as growing in proportion.
    """

    measure: Literal["rival"] = "rival"
    rival: RivalName | Literal["access"]
    what: str
    subscriptions: int
    scaled_to: int
    events: int
    load_seconds: float
    events_per_second: float
    microseconds_per_event: float
    matches_per_event: float
    access_is_faster: float


class MissingRival(msgspec.Struct, frozen=True, kw_only=True):
    """A rival that is not installed."""

    measure: Literal["missing"] = "missing"
    rival: RivalName
    problem: str


Figures = BatchFigures | GrowthFigures | SingleFigures | RivalFigures | MissingRival


class SparkFigures(msgspec.Struct, frozen=True, kw_only=True):
    """A contender on Spark; seconds are by the clock, the median of several runs.

    Where `subscriptions` are fewer than `scaled_to`, `scaled_events_per_second` takes the time
    as growing in proportion; else it is `events_per_second`. `core_microseconds_per_event` is
    the processor time of all processes together, null where the system does not tell. Of a
    stream, `batch_seconds` are those of the last run.
    """

    measure: Literal["spark"] = "spark"
    workload: str
    contender: str
    what: str
    cores: int
    subscriptions: int
    scaled_to: int
    events: int
    seconds: float
    events_per_second: float
    scaled_events_per_second: float
    core_microseconds_per_event: float | None
    matches_per_event: float | None
    batch_seconds: tuple[float, ...] = ()


class SparkRatio(msgspec.Struct, frozen=True, kw_only=True):
    """What figures of one run say of each other; `target` is what it should be at least."""

    measure: Literal["ratio"] = "ratio"
    what: str
    ratio: float
    target: float | None = None
