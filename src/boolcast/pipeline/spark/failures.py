"""Errors of Spark: which of ours is behind one, and what to tell of one that is its own."""

import errno
import os
import re
from typing import Final, TypeAlias

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from boolcast.errors import BoolcastError, OutputError, StoreError, StreamError

SparkError: TypeAlias = PySparkException | Py4JJavaError

SPARK_ERRORS: Final = (PySparkException, Py4JJavaError)
"""What Spark raises; the second where it has no name for it in Python."""


def first_line(error: Exception) -> str:
    """What Spark says, without the plans and traces below."""
    told = error.java_exception.getMessage() if isinstance(error, Py4JJavaError) else error
    return next((line for line in str(told).splitlines() if line.strip()), type(error).__name__)


_CAUSES: Final = {each.__name__: each for each in (OutputError, StoreError, StreamError)}
_CAUSE: Final = re.compile(rf"boolcast\.errors\.({'|'.join(_CAUSES)}): ([^\n]*)")

_NO_SPACE: Final = os.strerror(errno.ENOSPC)
_UNREADABLE: Final = re.compile(
    r"\[FAILED_READ_FILE\.([A-Z_]*)\] ([^\n]*?)(?: SQLSTATE: \w+)?(?:\n|$)"
)
_UNLISTED: Final = re.compile(
    r"\[(?:CONFLICTING_(?:DIRECTORY_STRUCTURES|PARTITION_COLUMN_NAMES)|PATH_NOT_FOUND)\] "
    r"(.*?) SQLSTATE"
    r"|terminated with exception: (Invalid value [^\n]*? for option [^\n]*?)(?: SQLSTATE|\n|$)",
    re.DOTALL,
)


def cause_of(error: SparkError) -> BoolcastError | None:
    """What is behind the end of a stream, of which only the text comes back; None if unknown.

    That is an error of ours in a task, a file or folder that Spark cannot read, or a full disk.
    """
    text = str(error)
    found = _CAUSE.search(text)
    if found:
        return _CAUSES[found[1]](found[2])
    unreadable = _UNREADABLE.search(text)
    if unreadable:
        remedy = (
            "Once it is back,"
            if unreadable[1] == "FILE_NOT_EXIST"
            else "Put a mended file in its place, or let the source pass over such files by its "
            "option ignoreCorruptFiles; then"
        )
        return StreamError(
            f"Spark cannot read the events: {unreadable[2]} {remedy} start the stream again and "
            "it goes on"
        )
    unlisted = _UNLISTED.search(text)
    if unlisted:
        problem = " ".join((unlisted[1] or unlisted[2]).split()).rstrip(".")
        return StreamError(
            f"Spark cannot list the files of the stream: {problem}. Once that is mended, start the "
            "stream again and it goes on"
        )
    if _NO_SPACE in text:
        return OutputError(
            f"Spark cannot write the checkpoint, or its own scratch files: {_NO_SPACE}. What is "
            "published is whole; once this is mended, start the stream again and it goes on"
        )
    return None
