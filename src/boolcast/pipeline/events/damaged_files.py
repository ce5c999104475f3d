"""Parquet files that may be damaged, or out of reach: which is which.

Damage is in the file and stays there, so that it can be told and passed over. A file that cannot
be reached raises StreamError, since nobody can say that it will not be there the next time.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from boolcast.errors import StreamError
from boolcast.pipeline.events.parquet_reading import Piece, piece_of, read_groups


class DamageError(Exception):
    """What is wrong with a file, or a part of it, in one line."""


def whole(path: str, options: Mapping[str, Any] | None) -> Piece:
    """All of a file that Spark names."""
    return piece_of(path, 0, sys.maxsize, options)


@contextmanager
def noticing(path: str) -> Iterator[None]:
    """Raise DamageError, or StreamError if the file cannot be reached."""
    try:
        yield
    except pa.ArrowMemoryError:
        raise
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise DamageError(_first_line(error)) from error
    except OSError as error:
        # Arrow's own; those of the system and of fsspec have a number or a class.
        if type(error) is OSError and error.errno is None:
            raise DamageError(_first_line(error)) from error
        raise StreamError(
            f"the file {path} cannot be reached: {error.strerror or error}. Once it can, start "
            "the stream again and it goes on"
        ) from error


def batches_of_group(
    file: pq.ParquetFile, group: int, columns: Sequence[str], path: str
) -> Iterator[pa.RecordBatch]:
    """Some columns of a row group. Raises as `noticing`."""
    batches = read_groups(file, [group], columns)
    while True:
        with noticing(path):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch


def schema_of(path: str, options: Mapping[str, Any] | None) -> pa.Schema | None:
    """The columns of a file; None if it is damaged. Raises StreamError if it is not reached."""
    piece = whole(path, options)
    try:
        with noticing(piece.path), piece.opened() as file:
            return file.schema_arrow
    except DamageError:
        return None


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
