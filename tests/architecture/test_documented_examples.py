"""Every example in the README, in `docs/` and in `examples/` does what it says."""

import shutil
import subprocess
import sys

import pytest

from tests.architecture.documents import agrees, run_document, runs_on_spark
from tests.architecture.tree import ROOT, files, name_of

DOCUMENTS = [
    path
    for path in (ROOT / "README.md", *files(ROOT / "docs", ".md"))
    # Those are run by tests/pipeline/test_documents.py.
    if not runs_on_spark(path)
]
SLOW = {"command-line.md", "simulation.md", "matching.md", "merging.md", "pruning.md"}
"""Their commands are processes of their own, or take seconds each."""

EXAMPLES = [
    path
    for path in files(ROOT / "examples", ".py")
    # Starts Spark, and is run by tests/pipeline/test_documents.py.
    if path.name != "saved_searches.py"
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty working folder, but for a copy of `examples/`."""
    if (ROOT / "examples").is_dir():
        shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=[pytest.mark.slow] if path.name in SLOW else [])
        for path in DOCUMENTS
    ],
    ids=name_of,
)
def test_a_document_tells_the_truth(path, folder):
    failures = run_document(path, folder)
    assert not failures, "\n\n".join(failures)


@pytest.mark.parametrize("path", EXAMPLES, ids=name_of)
def test_an_example_runs(path, folder):
    run = subprocess.run(
        [sys.executable, path], cwd=folder, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr


TRUE = """\
```python
x = 20
```
- in a list
  ```python
  >>> x + 1
  21
  >>> print("a long text")
  a ... text
  ```
<!-- not run: needs a cluster -->
```python
raise SystemExit
```
```bash
$ make something
```
```console
$ cat > numbers <<'EOF'
1
2
3
EOF
$ cat numbers
1
...
$ cat numbers \\
> numbers | tail -n 1
3
$ cat missing
cat: ...
$ echo $?
1
$ cat numbers
```
"""


def test_a_true_document_passes(folder):
    (folder / "true.md").write_text(TRUE)
    assert run_document(folder / "true.md", folder) == []


@pytest.mark.parametrize(
    "block",
    [
        "```python\n>>> 1 + 1\n3\n```",
        "<!-- not run: -->\n```python\n>>> 1 + 1\n3\n```",
        "```console\n$ cat /dev/null\nsomething\n```",
        "```console\n$ cat missing\n```",
        "```console\n$ cat <(echo 1; echo 2)\n1\n```",
        "```console\n$ cat 'unclosed\n```",
        "```console\n$ cat /dev/null; exit 0\n```",
    ],
)
def test_a_false_document_fails(folder, block):
    (folder / "false.md").write_text(f"# Title\n{block}\n")
    assert run_document(folder / "false.md", folder)


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a\n...\nd", "a\nb\nc\nd\n", True),
        ("a\n...\nd", "a\nd\n", True),
        ("a\n...", "a  \nb\n", True),
        ("took ... ms", "took 12 ms\n", True),
        ("took ... ms", "took 12\nms\n", False),
        ("a.b", "axb\n", False),
        ("a\nb", "a\n", False),
    ],
)
def test_what_agrees(shown, printed, same):
    assert agrees(shown, printed) is same
