"""Files as Spark sees them: paths with wildcards, partition folders, Parquet and JSON lines."""

import os
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final
from urllib.parse import unquote

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from boolcast.errors import FileError, OutputError

LINE: Final = "value"
"""The column that holds a line of JSON."""

_MAGIC: Final = b"PAR1"

_SPECIAL: Final = re.compile(r"[\\\[\]{}*?]")
_WILDCARD: Final = re.compile(r"(?<!\\)[\[\]{}*?]")
_SCHEME: Final = re.compile(r"[a-zA-Z][\w+.-]*:(//[^/]*)?(?=/|$)")
_FOLDER: Final = re.compile(r"([^/=]+)=([^/]*)/")
_NULL_FOLDER: Final = "__HIVE_DEFAULT_PARTITION__"

_TOKEN: Final = re.compile(r"\\(?P<escaped>.)|\[(?P<set>[^\]]*)\]|(?P<plain>.)", re.DOTALL)
_PATTERNS: Final = {"*": "[^/]*", "?": "[^/]", "{": "(?:", "}": ")"}


def literal(path: str) -> str:
    """A local path with its special characters escaped: Spark's readers expand [1], {a,b}, *."""
    return path if "://" in path else _SPECIAL.sub(r"\\\g<0>", path)


def has_wildcards(name: str) -> bool:
    """True if Spark's readers may take the name for a pattern."""
    return _SPECIAL.search(name) is not None


def is_hidden(name: str) -> bool:
    """True of files and folders that Spark skips: markers, checksums and logs."""
    # A folder _day=1 is a partition.
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def has_scheme(path: str) -> bool:
    """True of a URL, or a path that Hadoop writes like one."""
    return _SCHEME.match(path) is not None


def without_scheme(path: str) -> str:
    """The path of a URL, or of what Hadoop writes like one: file:/x, s3a://bucket/x."""
    return _SCHEME.sub("", path, count=1)


def absolute(path: str) -> str:
    """The path without a scheme, absolute and without `..`, as Spark expands wildcards in it."""
    plain = without_scheme(path) if has_scheme(path) else os.path.abspath(path)  # noqa: PTH100
    return posixpath.normpath("/" + plain.lstrip("/"))


def root_of(path: str) -> str:
    """The folder below which folder names are attributes: the path up to its first wildcard."""
    plain = absolute(path)
    wildcard = _WILDCARD.search(plain)
    if wildcard is not None:
        plain = plain[: plain.rfind("/", 0, wildcard.start())]
    return re.sub(r"\\(.)", r"\1", plain).rstrip("/") + "/"


def pattern_of(path: str) -> str:
    """A regular expression for a path with wildcards, as Hadoop reads them."""
    depth = 0
    pieces = []
    for token in _TOKEN.finditer(path):
        plain = token["plain"]
        depth += {"{": 1, "}": -1}.get(plain, 0)
        if token["set"] is not None:
            pieces.append(f"[{re.sub('^[!^]', '^', token['set'])}]")
        elif plain == "," and depth:
            pieces.append("|")
        else:
            pieces.append(_PATTERNS.get(plain) or re.escape(plain or token["escaped"]))
    return "".join(pieces)


def folder_values(path: str, root: str) -> dict[str, str | None]:
    """The attributes in the names of the folders between `root` and a file (`day=2026-11-15`)."""
    plain = without_scheme(path)
    below = plain.removeprefix(root) if plain.startswith(root) else ""
    return {
        unquote(name): None if value == _NULL_FOLDER else unquote(value)
        for name, value in _FOLDER.findall(below)
    }


def is_parquet(path: str) -> bool:
    """True of Parquet, False of JSON lines, by the content of the first file. Raises FileError.

    Files that are not local are judged by their names; without a known ending they are Parquet.
    """
    if "://" in path:
        return not path.rstrip("/").endswith((".jsonl", ".json", ".ndjson", ".gz"))
    local = Path(path)
    if not local.exists():
        raise FileError("there is no such file", path=path)
    files = [local] if local.is_file() else sorted(_data_files(local))
    if not files:
        raise FileError("there are no files in this folder", path=path)
    try:
        with files[0].open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError as error:
        raise FileError(error.strerror or str(error), path=str(files[0])) from None


def read_parquet(session: SparkSession, path: str) -> DataFrame:
    """A Parquet file, or a folder of them. Raises FileError."""
    try:
        return session.read.parquet(literal(path))
    except (PySparkException, Py4JError):
        # Spark's own message is a trace of many lines.
        raise FileError("Spark cannot read it as Parquet; is it damaged?", path=path) from None


def read_lines(session: SparkSession, path: str) -> DataFrame:
    """The lines of text files that are not blank, in the column `LINE`."""
    lines = session.read.text(literal(path))
    return lines.where(lines[LINE].rlike(r"\S"))


def check_writable(folder: str) -> None:
    """Create a local folder, and raise OutputError if nothing can be written there.

    Call it before a job: Spark finds out late, and says so in hundreds of lines.
    """
    if "://" in folder:
        return
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {error.strerror or error}") from None


def _data_files(folder: Path) -> Iterator[Path]:
    """The files that Spark would read, in folders that it would enter."""
    for path in folder.rglob("*"):
        if not any(map(is_hidden, path.relative_to(folder).parts)) and path.is_file():
            yield path
