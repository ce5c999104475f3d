"""The examples of documents that run on Spark do what they say."""

import os
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
