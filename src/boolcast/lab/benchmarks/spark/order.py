"""What `boolcast bench spark` and the process of a part say to each other, as JSON."""

import msgspec

from boolcast.lab.benchmarks.choices import SparkPart
from boolcast.lab.benchmarks.figures import SparkFigures


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What to measure, and on which processors."""

    part: SparkPart
    processors: tuple[int, ...]
    subscriptions: int
    events: int
    theta_subscriptions: int
    theta_events: int
    repeats: int
    seed: int


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A line of output: the title of a step that begins, or figures."""

    begins: str | None = None
    figures: SparkFigures | None = None
