"""The configuration file of `boolcast stream`."""

import re
from typing import Annotated, Any, Final, Literal

import msgspec

from boolcast.cli.input.sources import Source
from boolcast.errors import FileError

Option = str | int | float | bool

_FILE_FORMATS: Final = frozenset(
    ("avro", "binaryfile", "csv", "json", "orc", "parquet", "text", "xml")
)


class SourceConfiguration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where events come from, in Spark's terms; `select` lists SQL expressions.

    `reader` says who reads Parquet files; `fsspec` has options for workers that do.
    """

    format: str
    path: str | None = None
    schema: str | None = None
    options: dict[str, Option] = {}
    select: tuple[str, ...] = ()
    reader: Literal["workers", "spark"] | None = None
    fsspec: dict[str, Any] = {}

    @property
    def is_read_by_workers(self) -> bool:
        """True for Parquet files, unless Spark is chosen or needed for `select`."""
        if self.reader is not None:
            return self.reader == "workers"
        return self.is_parquet and not self.select

    @property
    def is_parquet(self) -> bool:
        """True for Parquet; like Spark, ignores case."""
        return self.format.casefold() == "parquet"

    @property
    def is_of_files(self) -> bool:
        """True if the source is files that arrive at a path."""
        return self.path is not None and self.format.casefold() in _FILE_FORMATS


class SparkConfiguration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where Spark runs; the default is that of `pipeline.session`."""

    master: str | None = None
    settings: dict[str, Option] = {}


class Configuration(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The arguments of `pipeline.match_stream`; `schema` is a path."""

    index: str
    output: str
    checkpoint: str
    event_id: str
    source: SourceConfiguration
    json: str | None = None
    schema: str | None = None
    form: Literal["rows", "lists"] = "rows"
    trigger_seconds: Annotated[float, msgspec.Meta(ge=0)] = 1.0
    memory: Annotated[int, msgspec.Meta(ge=1)] | None = None
    spark: SparkConfiguration = SparkConfiguration()


def read_configuration(path: str) -> Configuration:
    """Read a TOML file, or JSON if named .json. Raises FileError."""
    with Source(path) as source:
        data = source.read_whole()
    decode = msgspec.json.decode if path.endswith(".json") else msgspec.toml.decode
    try:
        configuration = decode(data, type=Configuration)
    except msgspec.ValidationError as error:
        raise FileError(_by_key(str(error)), path=source.name) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise FileError(f"cannot be read: {error}", path=source.name) from None
    _check_reader(configuration.source, source.name)
    return configuration


def _check_reader(source: SourceConfiguration, name: str) -> None:
    """Raise FileError if workers cannot read the source: they read only whole Parquet files."""
    if source.is_parquet and source.path is None:
        problem = "source.path is missing: the format parquet needs the folder of its files"
    elif not source.is_read_by_workers and source.fsspec:
        problem = "source.fsspec is for workers, which read only the format parquet: leave it out"
    elif not source.is_read_by_workers:
        return
    elif not source.is_parquet:
        problem = f"source.reader: workers read the format parquet, not {source.format}"
    elif source.select:
        problem = "source.reader: workers cannot evaluate select: leave it out"
    else:
        return
    raise FileError(problem, path=name)


def as_text(option: Option) -> str:
    """An option as text, as Spark wants it."""
    return str(option).lower() if isinstance(option, bool) else str(option)


_PROBLEM: Final = re.compile(r"(?P<problem>.*?)(?: - at `(?:key in )?\$\.?(?P<key>[^`]*)`)?")
_FIELD: Final = re.compile(r"Object (missing required|contains unknown) field `([^`]*)`")


def _by_key(problem: str) -> str:
    """The problem as `key: problem`, with the key as in the file."""
    match = _PROBLEM.fullmatch(problem)
    assert match is not None
    key, text = match["key"] or "", match["problem"]
    field = _FIELD.fullmatch(text)
    if field:
        key = ".".join(filter(None, (key, field[2])))
        if field[1] == "missing required":
            return f"{key} is missing"
        return f"{key} is not known here; `boolcast stream --help` shows all keys"
    text = text.replace("`", "")
    return f"{key}: {text[0].lower()}{text[1:]}" if key else text
