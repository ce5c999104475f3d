"""Reading input line by line: from a file, or from standard input; gzip is read through.

A line that is wrong is no reason to give up on the others: `records` hands it to whoever
reports it and goes on. Only one line is in memory at a time, and none past `LINE_LIMIT`.
"""

import gzip
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from io import BufferedIOBase, BufferedReader
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, TypeVar, cast

from boolcast.cli.output.progress import Progress
from boolcast.errors import FileError, InputError, UsageError

STANDARD_INPUT: Final = "-"
LINE_LIMIT: Final = 16 * 1024 * 1024
"""The bytes of the longest line, and of the longest file that is read as a whole."""

_GZIP: Final = b"\x1f\x8b"
_UTF_8_MARK: Final = b"\xef\xbb\xbf"
_UTF_16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")

Record = TypeVar("Record")


class Line(NamedTuple):
    """One line of a file, counted from 1, without its end and the space around it."""

    number: int
    data: bytes


class Source:
    """An input that is open; close it by `with`. `name` is what reports call it.

    Raises FileError where the path cannot be opened, and later where it cannot be read.
    """

    def __init__(self, path: str) -> None:
        self.name = "<stdin>" if path == STANDARD_INPUT else path
        self._is_own = path != STANDARD_INPUT
        try:
            self._file = _open(path) if self._is_own else _standard_input()
            status = os.fstat(self._file.fileno()) if self._is_own else None
        except OSError as error:
            raise FileError(_reason(error), path=self.name) from None
        is_regular = status is not None and stat.S_ISREG(status.st_mode)
        self.size = status.st_size if status is not None and is_regular else None

    def __enter__(self) -> "Source":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._is_own:
            self._file.close()

    def records(
        self,
        read: Callable[[Line], Record],
        report: Callable[[str, int, InputError], None],
    ) -> Iterator[tuple[int, Record]]:
        """What `read` makes of each line that is not empty, with the number of the line.

        Where `read` raises InputError, `report` gets the name, the line's number and the error.
        """
        with Progress(self.name, self.size) as progress:
            for number, data in self._lines():
                progress.update(self._file.tell() if self.size is not None else 0)
                try:
                    if len(data.rstrip(b"\r\n")) > LINE_LIMIT:
                        raise InputError(f"the line is longer than {LINE_LIMIT:,} bytes")
                    if not (stripped := data.strip()):
                        continue
                    record = read(Line(number, stripped))
                except InputError as error:
                    report(self.name, number, error)
                else:
                    yield number, record

    def read_whole(self) -> bytes:
        """All that is there, without a byte order mark."""
        try:
            data = self._uncompressed().read(LINE_LIMIT + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise FileError(_reason(error), path=self.name) from None
        if len(data) > LINE_LIMIT:
            raise FileError(f"the file is longer than {LINE_LIMIT:,} bytes", path=self.name)
        return self._without_mark(data)

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        """The lines with their ends; one past the limit is cut a little behind the limit."""
        try:
            stream = self._uncompressed()
            number = 0
            while data := stream.readline(LINE_LIMIT + 2):
                number += 1
                yield number, self._without_mark(data) if number == 1 else data
                while data and not data.endswith(b"\n"):
                    data = stream.readline(LINE_LIMIT)
        except (OSError, EOFError, zlib.error) as error:
            raise FileError(_reason(error), path=self.name) from None

    def _uncompressed(self) -> BufferedIOBase:
        if self._file.peek(len(_GZIP)).startswith(_GZIP):
            return gzip.GzipFile(fileobj=self._file)
        return self._file

    def _without_mark(self, data: bytes) -> bytes:
        if data.startswith(_UTF_16_MARKS):
            raise FileError("the file is in UTF-16; save it as UTF-8", path=self.name)
        return data.removeprefix(_UTF_8_MARK)


def refuse_two_readers(*paths: str | None) -> None:
    """Raise UsageError where standard input would have to be read twice."""
    if paths.count(STANDARD_INPUT) > 1:
        raise UsageError("standard input (`-`) can be read only once; give a file for the others")


def _open(path: str) -> BufferedReader:
    return Path(path).open("rb")


def _standard_input() -> BufferedReader:
    if sys.stdin is None:
        raise FileError("standard input is closed", path="<stdin>")
    return cast("BufferedReader", sys.stdin.buffer)


def _reason(error: Exception) -> str:
    """Why a file cannot be read, in a few words."""
    match error:
        case FileNotFoundError():
            return "there is no such file"
        case IsADirectoryError():
            return "this is a folder, not a file"
        case PermissionError():
            return "reading this file is not permitted"
        case gzip.BadGzipFile() | EOFError() | zlib.error():
            return f"the gzip data is damaged: {error}"
        case OSError():
            return error.strerror or str(error)
        case _:
            return str(error)
