"""The names that options of `boolcast bench` accept; cheap to import for the command line."""

from enum import StrEnum


class WorkloadName(StrEnum):
    """The workloads; the first four are presets of the book auction."""

    AUCTION = "auction"
    AUCTION_ZIPF = "auction-zipf"
    AUCTION_RANDOM = "auction-random"
    FIXED = "fixed"
    DIVERSE = "diverse"
    UNSELECTIVE = "unselective"


class EngineName(StrEnum):
    """The match engines."""

    ACCESS = "access"
    COUNTING = "counting"
    MBD = "mbd"
    SCAN = "scan"


class AlternativeName(StrEnum):
    """What a Python user could take instead of Boolcast."""

    DUCKDB = "duckdb"
    POLARS = "polars"
    NUMPY = "numpy"
    LAMBDAS = "lambdas"
    RULE_ENGINE = "rule-engine"


class SparkPart(StrEnum):
    """The parts of `boolcast bench spark`."""

    CLASS_1 = "class-1"
    AUCTION = "auction"
    DIVERSE = "diverse"
    CORES = "cores"
    STREAM = "stream"
