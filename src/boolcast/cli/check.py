"""`boolcast check`: is a filter right, and could it be better."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer
from msgspec.structs import replace

from boolcast.algebra import DEFAULT_BUDGET, Finding, lint, simplify
from boolcast.cli.input.options import AsJson, SchemaPath, Strict, read_schema
from boolcast.cli.input.sources import STANDARD_INPUT, Line, Source, refuse_two_readers
from boolcast.cli.input.subscriptions import Subscriptions
from boolcast.cli.output.exit_codes import ExitCode
from boolcast.cli.output.faults import ErrorReport, text_at, text_of
from boolcast.cli.output.writing import counted, styled, write, write_error, write_json
from boolcast.errors import FilterError, InputError, UsageError
from boolcast.filters.canonical import canonical
from boolcast.filters.expressions import Filter
from boolcast.filters.parsing import parse
from boolcast.model.identifiers import SubscriptionId
from boolcast.model.schemas import Schema

# A single word is no filter (but for `true` and `false`); with a dot or slash it looks like a path.
_PATH: Final = re.compile(r"[^\s=<>!'\"(),]*[./\\][^\s=<>!'\"(),]*")

# Less than the algebra's own, because a file has many filters: enough for some 40 predicates in a
# tree of any shape and 100 in one AND or OR. Past that a filter takes about a second, and is told.
_BUDGET: Final = 4 * DEFAULT_BUDGET


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to say of one filter; null for what is not known.

    `exhausted` says that the budget of the algebra ran out: there may be more findings, and
    a simpler filter.
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
        typer.Argument(metavar="FILTER|FILE", show_default=False, help="A filter, a file, or -."),
    ] = None,
    file: Annotated[
        str | None,
        typer.Option("--file", "-f", metavar="FILE", help="A file, whatever its name looks like."),
    ] = None,
    schema: SchemaPath = None,
    strict: Strict = False,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet",
            "-q",
            help="Of a file, show only the lines with findings, or not checked to the end.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check filters: errors, findings, simpler forms.

    An argument that names an existing file is read as a file, and `-` as standard input;
    anything else is a filter. (One that begins with a minus sign goes behind `--`.)

    \b
    A file, which may be gzipped, has on each line a filter, or a subscription as JSON:
      {"subscription": "alert-1", "filter": "price < 25"}

    For each filter there is its canonical text (which is the same for predicates that are
    written differently and mean the same), an equivalent filter without superfluous parts,
    and the findings.

    Errors go to standard error with a caret under the place; the rest to standard output. A
    bad line does not stop the others. With --json there is one JSON object for each filter,
    errors included: file, line, subscription, canonical, simplified, findings, exhausted,
    error.

    \b
    Findings:
      contradiction   no event is accepted
      tautology       every event is accepted
      redundant       a part that can be left out
      always-missing  an attribute that, by the schema, no such event has

    \b
    Examples:
      boolcast check "price < 25 and (condition = 'new' or price < 30)"
      boolcast check --schema books.json --quiet subscriptions.jsonl
      grep -v '^#' filters.txt | boolcast check --json -

    \b
    Exit codes:
      0  all filters are right, without findings
      1  all filters are right, some have findings
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
                write_error(f"hint: if a file was meant, there is none of the name {text}")
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
