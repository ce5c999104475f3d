"""The results of benchmarks. As JSON, `measure` tells them apart, and null means unknown.

Seconds are processor time (`lab.one_core`), unless a class says otherwise. In the JSON output an
alternative is called `rival`, as the extra `boolcast[rivals]` is.
"""

from typing import Final, Literal

import msgspec

from boolcast.lab.benchmarks.choices import AlternativeName, EngineName, WorkloadName

_IN_JSON: Final = {"alternative": "rival"}


class BatchFigures(msgspec.Struct, frozen=True, kw_only=True):
    """An engine on a workload, in batches of events from Arrow to Arrow.

    `load_seconds` covers everything from texts to the answer for the first event.
    `settle_seconds` covers a first batch, from which an engine may learn, and the rebuild that
    uses it. Bytes are per subscription: of the search structure, of the constants kept for the
    next rebuild, of the ids, and of the texts. `times_counting` and `times_scan` compare the speed
    with those engines in the same run.
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
        """The time per candidate or match."""
        if self.candidates_per_event is None:
            return None
        looks = self.candidates_per_event + self.matches_per_event
        return self.microseconds_per_event * 1_000 / looks if looks else None


class GrowthFigures(msgspec.Struct, frozen=True, kw_only=True):
    """How the time per candidate or match grows with the subscriptions."""

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

    `microseconds_per_call` is the median over repeats of the mean. The percentiles are of single
    calls by the clock, and include its own 0.1 µs.
    """

    measure: Literal["single"] = "single"
    subscriptions: int
    engine: EngineName
    calls: int
    microseconds_per_call: float
    median_microseconds: float
    percentile_99_microseconds: float
    matches_per_event: float


class AlternativeFigures(msgspec.Struct, frozen=True, kw_only=True, rename=_IN_JSON):
    """An alternative, or the access engine itself, on class 1 of the auction.

    If `subscriptions` is less than `scaled_to`, `microseconds_per_event` is as measured, and
    `access_is_faster` assumes that it grows in proportion.
    """

    measure: Literal["rival"] = "rival"
    alternative: AlternativeName | Literal["access"]
    what: str
    subscriptions: int
    scaled_to: int
    events: int
    load_seconds: float
    events_per_second: float
    microseconds_per_event: float
    matches_per_event: float
    access_is_faster: float


class MissingAlternative(msgspec.Struct, frozen=True, kw_only=True, rename=_IN_JSON):
    """An alternative that is not installed."""

    measure: Literal["missing"] = "missing"
    alternative: AlternativeName
    problem: str


Figures = BatchFigures | GrowthFigures | SingleFigures | AlternativeFigures | MissingAlternative


class SparkFigures(msgspec.Struct, frozen=True, kw_only=True):
    """A contender on Spark; seconds are wall-clock time, the median of several runs.

    If `subscriptions` is less than `scaled_to`, `scaled_events_per_second` assumes that time
    grows in proportion; otherwise it equals `events_per_second`. `core_microseconds_per_event` is
    the processor time of all processes, null if the system does not report it. `batch_seconds`
    are the batches of a stream's last run.
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
    """A ratio of two figures; `target` is the least that it should be."""

    measure: Literal["ratio"] = "ratio"
    what: str
    ratio: float
    target: float | None = None


SparkBenchmarkFigures = SparkFigures | SparkRatio | BatchFigures
