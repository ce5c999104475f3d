"""The documents and example programs that run on Spark do what they say."""

import os
import runpy
import subprocess
import sys

import pytest

from tests.architecture.documents import runs_on_spark
from tests.architecture.tree import ROOT, files, name_of

DOCUMENTS = [path for path in files(ROOT / "docs", ".md") if runs_on_spark(path)]


def test_the_guide_is_among_them():
    assert ROOT / "docs" / "guides" / "spark.md" in DOCUMENTS


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_a_document_tells_the_truth(path, s3, tmp_path):
    s3.new_bucket("books")
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    run = subprocess.run(
        [sys.executable, "-m", "tests.architecture.documents", path],
        cwd=tmp_path,
        env={
            **os.environ,
            **s3.environment,
            "PYTHONPATH": paths,
            "BOOLCAST_CACHE": str(tmp_path / "cache"),
        },
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr


SAVED_SEARCHES = """\
3 searches saved, 1 rejected:
  dana: expected a value or an attribute, found the end of the filter

New books today:
  The Dispossessed (good, 9.50)       ada
  The Dispossessed (signed, 120.00)   cem
  Gaudy Night (good, 6.00)            ben
  Gaudy Night (worn, 2.00)            -
  Middlemarch (good, 30.00)           cem
  Dune (good, 7.00)                   -

After dana fixes her search and cem deletes his, books per search:
  ada: 1
  ben: 1
  dana: 1
"""


def test_saved_searches(spark, tmp_path, capsys):
    example = runpy.run_path(str(ROOT / "examples" / "saved_searches.py"))
    example["main"](spark, str(tmp_path / "index"))
    assert capsys.readouterr().out == SAVED_SEARCHES
