"""Lines of a file or of standard input, with gzip decompressed on the way.

Lines come in batches: as many as one read gives, so that a pipe that delivers a line at a time
is served at once, and a file in large pieces. A bad line does not stop the others; no line
longer than `LINE_LIMIT` is kept in memory.
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

from boolcast.cli.input.reading_progress import ReadingProgress
from boolcast.errors import FileError, InputError, UsageError

STANDARD_INPUT: Final = "-"
LINE_LIMIT: Final = 16 * 1024 * 1024
"""The bytes of the longest line, and of the longest file that is read as a whole."""
_READ_BYTES: Final = 1024 * 1024

_GZIP: Final = b"\x1f\x8b"
_UTF_8_MARK: Final = b"\xef\xbb\xbf"
_UTF_16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")

Record = TypeVar("Record")


class Line(NamedTuple):
    """A line with its number, from 1, without its end and the space around it."""

    number: int
    data: bytes


class Source:
    """An open input, for a `with` statement; `name` is its name in messages.

    Raises FileError if the path cannot be opened, and later if it cannot be read.
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
        self, read: Callable[[Line], Record], report: Callable[[str, int, InputError], None]
    ) -> Iterator[tuple[int, Record]]:
        """What `read` makes of each line that is not empty, with the line's number.

        If `read` raises InputError, `report` gets the file's name, the line's number and the error.
        """
        for lines in self.batches():
            for number, data in lines:
                try:
                    if (line := checked_line(number, data)) is None:
                        continue
                    record = read(line)
                except InputError as error:
                    report(self.name, number, error)
                else:
                    yield number, record

    def batches(self) -> Iterator[list[tuple[int, bytes]]]:
        """The unchanged lines with their numbers, as many at a time as one read gives."""
        with ReadingProgress(self.name, self.size) as progress:
            first = 1
            for lines in self._split():
                progress.update(self._file.tell() if self.size is not None else 0)
                if first == 1:
                    lines[0] = self._without_mark(lines[0])
                yield list(enumerate(lines, first))
                first += len(lines)

    def read_whole(self) -> bytes:
        """The whole content, without a byte order mark."""
        try:
            data = self._uncompressed().read(LINE_LIMIT + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise FileError(_reason(error), path=self.name) from None
        if len(data) > LINE_LIMIT:
            raise FileError(f"the file is longer than {LINE_LIMIT:,} bytes", path=self.name)
        return self._without_mark(data)

    def _split(self) -> Iterator[list[bytes]]:
        """The lines without their ends; of one past the limit only the beginning is kept."""
        try:
            stream = self._uncompressed()
            rest = bytearray()
            while data := stream.read1(_READ_BYTES):
                rest += data
                if (end := rest.rfind(b"\n", len(rest) - len(data))) >= 0:
                    yield bytes(rest[:end]).split(b"\n")
                    del rest[: end + 1]
                del rest[LINE_LIMIT + 2 :]
            if rest:
                yield [bytes(rest)]
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


def checked_line(number: int, data: bytes) -> Line | None:
    """The line, or None if it is empty. Raises InputError if it is too long."""
    if len(data.rstrip(b"\r")) > LINE_LIMIT:
        raise InputError(f"the line is longer than {LINE_LIMIT:,} bytes")
    stripped = data.strip()
    return Line(number, stripped) if stripped else None


def refuse_two_readers(*paths: str | None) -> None:
    """Raise UsageError if standard input is given twice."""
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
