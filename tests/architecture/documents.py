r"""Run the examples in a Markdown file.

What is run, in order and in one working folder:

- a `python` block with prompts, as doctests with `...` for any text; without prompts, as a script.
  All blocks of a file share their names.
- a `console`, `bash` or `sh` block with a prompt `$ ` before `boolcast` or `cat`, as one bash
  session. Here-documents and lines ended by `\` may go on with or without a `> `. The output shown,
  if any, is compared, with `...` for any text in a line and a line `...` for any lines; where none
  is shown the command must succeed. Blocks of other commands (`make`, `pip`) are not run.

A block right below `<!-- not run: reason -->` is left out. A document that says
`<!-- runs on Spark -->` is run with the tests of the pipeline instead of all the others, by
`python -m tests.architecture.documents FILE` in a process and a folder of its own.
"""

import doctest
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

_FENCED = re.compile(
    r"^(?P<skip>[ ]*<!-- not run: \S.*-->\n\s*)?"
    r"^(?P<indent>[ ]*)(?P<fence>```+)(?P<language>\w*)[^\n`]*\n"
    r"(?P<text>.*?)"
    r"^(?P=indent)(?P=fence)[ ]*$",
    re.MULTILINE | re.DOTALL,
)
_ON_SPARK = "<!-- runs on Spark -->"
_PROMPT = "$ "
_RUN = re.compile(r"^\$ (?:[^\n]*\| *)?(?:boolcast|cat)\b", re.MULTILINE)
_HERE_DOCUMENT = re.compile(r"<<-?\s*['\"]?(\w+)")
_SEPARATOR = "\x1e"


class Block(NamedTuple):
    """A fenced block; `line` is that of its first line of text, from 1."""

    language: str
    text: str
    line: int


class Command(NamedTuple):
    """One prompt of a console block and the output shown below it."""

    text: str
    shown: str


def runs_on_spark(path: Path) -> bool:
    """True of a document whose examples start Spark, which takes long."""
    return _ON_SPARK in path.read_text(encoding="utf-8")


def blocks(markdown: str) -> Iterator[Block]:
    """The fenced blocks that are not marked as not run."""
    for match in _FENCED.finditer(markdown):
        if not match["skip"]:
            line = markdown.count("\n", 0, match.start("text")) + 1
            yield Block(match["language"], textwrap.dedent(match["text"]), line)


def commands(text: str) -> Iterator[Command]:
    """Take a console block apart."""
    lines = text.splitlines()
    while lines:
        first = lines.pop(0)
        assert first.startswith(_PROMPT), f"a console block has output before a prompt: {first}"
        command = [first.removeprefix(_PROMPT)]
        here = _HERE_DOCUMENT.search(first)
        while lines and (command[-1] != here[1] if here else command[-1].endswith("\\")):
            command.append(lines.pop(0).removeprefix("> "))
        shown = []
        while lines and not lines[0].startswith(_PROMPT):
            shown.append(lines.pop(0))
        yield Command("\n".join(command), "\n".join(shown))


def agrees(shown: str, printed: str) -> bool:
    """True if the output shown, with its `...`, is what was printed, spaces at line ends aside."""
    pattern = "".join(
        r"(?:.*\n)*?"
        if line.strip() == "..."
        else r".*?".join(map(re.escape, line.rstrip().split("..."))) + r"\n"
        for line in shown.strip("\n").splitlines()
    )
    lines = [line.rstrip() for line in printed.strip("\n").splitlines()]
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in lines)) is not None


def run_console(block: Block, folder: Path) -> Iterator[str]:
    """Run a block in `folder` with this environment's `boolcast`; yield what went wrong."""
    session = list(commands(block.text))
    end = f"__end() {{ local s=$?; printf '{_SEPARATOR}%d{_SEPARATOR}' $s; return $s; }}"
    run = subprocess.run(
        ["bash", "-c", "\n".join([end, *(f"{command.text}\n__end" for command in session)])],
        cwd=folder,
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "COLUMNS": "100",
            "NO_COLOR": "1",
            "TERM": "dumb",
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    *results, rest = run.stdout.split(_SEPARATOR)
    printed, statuses = results[::2], results[1::2]
    if len(printed) != len(session):
        yield f"line {block.line}: the session broke off: {rest}"
    for command, output, status in zip(session, printed, statuses, strict=False):
        wrong = not agrees(command.shown, output) if command.shown.strip() else status != "0"
        if wrong:
            yield (
                f"line {block.line}: {_PROMPT}{command.text}\n"
                f"--- shown\n{command.shown}\n--- printed (exit {status})\n{output}"
            )


def run_python(block: Block, file: str, names: dict[str, Any]) -> Iterator[str]:
    """Run a block with `names`, which it may change; yield what went wrong."""
    if not re.search(r"^>>> ", block.text, re.MULTILINE):
        # Blank lines in front, so that a traceback shows the line in the document.
        exec(compile("\n" * (block.line - 1) + block.text, file, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, file, file, block.line - 1)
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    runner.run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    yield from report


def run_document(path: Path, folder: Path) -> list[str]:
    """Run all examples of a Markdown file with `folder` as the working folder.

    Gives what went wrong, one text per failure; a script that raises is let through.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    failures: list[str] = []
    for block in blocks(path.read_text(encoding="utf-8")):
        match block.language:
            case "python" | "pycon":
                failures += run_python(block, path.name, names)
            case "console" | "bash" | "sh" if _RUN.search(block.text):
                failures += run_console(block, folder)
    return failures


if __name__ == "__main__":
    sys.exit("\n\n".join(run_document(Path(sys.argv[1]), Path.cwd())) or 0)
