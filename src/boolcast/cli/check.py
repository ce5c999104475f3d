"""`boolcast check`: find errors in filters, and ways to simplify them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer
from msgspec.structs import replace

from boolcast.algebra.budget import DEFAULT_BUDGET
from boolcast.algebra.simplification import Finding, lint, simplify
from boolcast.cli.input.options import AsJson, SchemaPath, Strict, read_schema
from boolcast.cli.input.sources import STANDARD_INPUT, Line, Source, refuse_two_readers
from boolcast.cli.input.subscriptions import Subscriptions
from boolcast.cli.output.endings import ExitCode
from boolcast.cli.output.error_messages import ErrorReport, text_at, text_of
from boolcast.cli.output.writing import counted, styled, write, write_error, write_json
from boolcast.errors import FilterError, InputError, UsageError
from boolcast.filters.canonical import canonical
from boolcast.filters.expressions import Filter
from boolcast.filters.parsing import parse
from boolcast.model.identifiers import SubscriptionId
from boolcast.model.schemas import Schema

# A single word with a dot or slash is no filter, but looks like a path.
_PATH: Final = re.compile(r"[^\s=<>!'\"(),]*[./\\][^\s=<>!'\"(),]*")

# Enough for some 40 predicates in any tree and 100 in one AND or OR; past that a filter would
# take more than about a second, and a file has many.
_BUDGET: Final = 4 * DEFAULT_BUDGET


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """The result for one filter; null if unknown.

    `exhausted` means that the budget ran out: there may be more findings and a simpler filter.
    """

    file: str | None = None
    line: int | None = None
    subscription: SubscriptionId | None = None
    canonical: str | None = None
    simplified: str | None = None
    findings: tuple[Finding, ...] = ()
    exhausted: bool = False
    error: ErrorReport | None = None


def check(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="FILTER|FILE", show_default=False, help="Filter, file, or - for standard input."
        ),
    ] = None,
    file: Annotated[
        str | None,
        typer.Option("--file", "-f", metavar="FILE", help="File to read, whatever its name."),
    ] = None,
    schema: SchemaPath = None,
    strict: Strict = False,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet",
            "-q",
            help="Show only lines with findings, and those not fully checked.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Find errors and redundant conditions in filters.

    An argument that names an existing file is read as a file; anything else is a filter.
    Put a filter that begins with a minus sign after `--`.

    \b
    Each line of a file (gzip works) is a filter, or a subscription as JSON:
      {"subscription": "alert-1", "filter": "price < 25"}

    The output shows the canonical text of each filter, an equivalent simpler filter, and the
    findings. Errors go to standard error, with a caret under the mistake. A bad line does not
    stop the others. With --json, each filter is one object with the members file, line,
    subscription, canonical, simplified, findings, exhausted and error.

    \b
    Findings:
      contradiction   accepts no event
      tautology       accepts every event
      redundant       makes no difference
      always-missing  uses an attribute that such events never have, by the schema

    \b
    Examples:
      boolcast check "price < 25 and (condition = 'new' or price < 30)"
      boolcast check --schema books.json --quiet subscriptions.jsonl
      grep -v '^#' filters.txt | boolcast check --json -

    \b
    Exit codes:
      0  no errors, no findings
      1  findings, but no errors
      2  a filter cannot be read, or the usage is wrong
    """  # noqa: D301 - \b keeps the lines of a paragraph apart
    if (target is None) == (file is None):
        raise UsageError("give one filter or file, such as: boolcast check 'price < 25'")
    path = file if file is not None else target if _is_path(target) else None
    refuse_two_readers(path, schema)
    known = read_schema(schema)
    if path is None:
        assert target is not None
        code = _check_text(target, known, as_json)
    else:
        code = _check_file(path, known, strict=strict, quiet=quiet, as_json=as_json)
    raise typer.Exit(code)


def _is_path(target: str | None) -> bool:
    if target is None or target == STANDARD_INPUT:
        return True
    try:
        return bool(target) and Path(target).exists()
    except (OSError, ValueError):  # too long for a path, or with a NUL
        return False


def _check_text(text: str, schema: Schema | None, as_json: bool) -> ExitCode:
    try:
        checked = _checked(parse(text, schema=schema), schema)
    except FilterError as error:
        if as_json:
            write_json(Checked(error=ErrorReport.of(error)))
        else:
            write_error(f"{styled('error:', 'red', error=True)} {text_of(error)}")
            if _PATH.fullmatch(text):
                write_error(f"hint: there is no file {text}")
        return ExitCode.BAD_INPUT
    if as_json:
        write_json(checked)
    else:
        write(f"canonical   {checked.canonical}")
        write(f"simplified  {_simplified(checked)}")
        for line in _remarks(checked):
            write(line)
        if not checked.findings:
            write(styled("no findings", "green"))
    return ExitCode.RESERVATIONS if checked.findings else ExitCode.FINE


def _check_file(
    path: str, schema: Schema | None, *, strict: bool, quiet: bool, as_json: bool
) -> ExitCode:
    right = wrong = findings = exhausted = 0
    subscriptions = Subscriptions(schema)

    def read(line: Line) -> Checked:
        if not line.data.startswith(b"{"):
            return _checked(parse(_decoded(line.data), schema=schema), schema)
        subscription = subscriptions.read(line)
        checked = _checked(subscriptions[subscription], schema)
        return replace(checked, subscription=subscription)

    def report(file: str, line: int, error: InputError) -> None:
        nonlocal wrong
        wrong += 1
        if as_json:
            write_json(
                Checked(file=file, line=line, error=ErrorReport.of(error, file=file, line=line))
            )
        else:
            write_error(styled(text_at(file, line, error), "red", error=True))
        if strict:
            raise typer.Exit(ExitCode.BAD_INPUT)

    with Source(path) as source:
        for number, checked in source.records(read, report):
            right += 1
            findings += len(checked.findings)
            exhausted += checked.exhausted
            if as_json:
                write_json(replace(checked, file=source.name, line=number))
            elif checked.findings or checked.exhausted or not quiet:
                write(f"{source.name}:{number}: {checked.canonical}")
                if checked.simplified != checked.canonical:
                    write(f"  simplified  {_simplified(checked)}")
                for line in _remarks(checked):
                    write(f"  {line}")
    if not as_json:
        summary = f"{right:,} right, {wrong:,} wrong, {counted(findings, 'finding')}"
        past = f", {exhausted:,} not checked to the end" if exhausted else ""
        write_error(f"{source.name}: {summary}{past}")
    if wrong:
        return ExitCode.BAD_INPUT
    return ExitCode.RESERVATIONS if findings else ExitCode.FINE


def _remarks(checked: Checked) -> Iterator[str]:
    for finding in checked.findings:
        yield f"{styled(f'{finding.code}:', 'yellow')} {finding.message}"
    if checked.exhausted:
        yield "the budget ran out: there may be more findings and a simpler filter"


def _simplified(checked: Checked) -> str:
    text = checked.simplified or ""
    return text if text == checked.canonical else styled(text, "cyan")


def _checked(filter: Filter, schema: Schema | None) -> Checked:
    written = canonical(filter)
    simplified = simplify(written, schema=schema, budget=_BUDGET)
    linted = lint(filter, schema=schema, budget=_BUDGET)
    return Checked(
        canonical=str(written),
        simplified=str(simplified.filter),
        findings=linted.findings,
        exhausted=simplified.exhausted or linted.exhausted,
    )


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"the text is not valid UTF-8: {error}") from None
