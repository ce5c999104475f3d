"""Errors as text for people and as data for programs."""

import msgspec

from boolcast.errors import BoolcastError, FileError, FilterError, FilterSyntaxError


class ErrorReport(msgspec.Struct, frozen=True, kw_only=True):
    """An error for programs; unknown members are null.

    `kind` is the class of error, `text` the filter, `position` the offset of the mistake in it;
    `file` and `line` say where it was read.
    """

    kind: str
    problem: str
    file: str | None = None
    line: int | None = None
    text: str | None = None
    position: int | None = None
    found: str | None = None
    expected: str | None = None
    hint: str | None = None

    @classmethod
    def of(
        cls, error: BoolcastError, *, file: str | None = None, line: int | None = None
    ) -> "ErrorReport":
        """The report of an error; `file` and `line` fill in what the error does not know."""
        kind = type(error).__name__
        match error:
            case FilterError():
                return cls(
                    kind=kind,
                    problem=error.problem,
                    file=file,
                    line=line,
                    text=error.text,
                    position=error.position,
                    found=error.found if isinstance(error, FilterSyntaxError) else None,
                    expected=error.expected if isinstance(error, FilterSyntaxError) else None,
                    hint=error.hint,
                )
            case FileError():
                return cls(kind=kind, problem=error.problem, file=error.path, line=error.line)
            case _:
                return cls(kind=kind, problem=str(error), file=file, line=line)


def text_of(error: BoolcastError) -> str:
    """The error with its caret; a filter of one line needs no line number."""
    if isinstance(error, FilterError) and error.text is not None and "\n" not in error.text:
        return str(error).replace(" (line 1, column ", " (column ", 1)
    return str(error)


def text_at(file: str, line: int, error: BoolcastError) -> str:
    """The error as `file:line: problem`, which editors can jump to."""
    return str(error) if isinstance(error, FileError) else f"{file}:{line}: {text_of(error)}"
