"""Spark's errors, translated: the Boolcast error behind one, or what to do about Spark's own."""

import errno
import os
import re
from typing import Final, TypeAlias

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from boolcast.errors import BoolcastError, OutputError, StoreError, StreamError

SparkError: TypeAlias = PySparkException | Py4JJavaError

SPARK_ERRORS: Final = (PySparkException, Py4JJavaError)
"""What Spark raises; Py4JJavaError if it has no Python class for the error."""


def first_line(error: Exception) -> str:
    """Spark's message without the plans and traces that follow it."""
    text = error.java_exception.getMessage() if isinstance(error, Py4JJavaError) else error
    return next((line for line in str(text).splitlines() if line.strip()), type(error).__name__)


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
    """Why a stream ended, found in the text of Spark's error; None if unknown.

    It is a Boolcast error in a task, a file or folder that Spark cannot read, or a full disk.
    """
    text = str(error)
    found = _CAUSE.search(text)
    if found:
        return _CAUSES[found[1]](found[2])
    unreadable = _UNREADABLE.search(text)
    if unreadable:
        remedy = (
            "Put the file back"
            if unreadable[1] == "FILE_NOT_EXIST"
            else "Replace the file by a good one, or set the source's option ignoreCorruptFiles"
        )
        return StreamError(
            f"Spark cannot read the events: {unreadable[2]} {remedy}; then start the stream again "
            "to continue"
        )
    unlisted = _UNLISTED.search(text)
    if unlisted:
        problem = " ".join((unlisted[1] or unlisted[2]).split()).rstrip(".")
        return StreamError(
            f"Spark cannot list the files of the stream: {problem}. Fix that and start the stream "
            "again to continue"
        )
    if _NO_SPACE in text:
        return OutputError(
            f"Spark cannot write the checkpoint or its own scratch files: {_NO_SPACE}. Published "
            "batches are complete. Free some space and start the stream again to continue"
        )
    return None
