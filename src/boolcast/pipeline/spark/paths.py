"""Paths as Spark's readers take them: with patterns, and folders that are partitions."""

import os
import posixpath
import re
from typing import Final
from urllib.parse import unquote

_SPECIAL: Final = re.compile(r"[\\\[\]{}*?]")
_WILDCARD: Final = re.compile(r"(?<!\\)[\[\]{}*?]")
_SCHEME: Final = re.compile(r"[a-zA-Z][\w+.-]*:(//[^/]*)?(?=/|$)")
_FOLDER: Final = re.compile(r"([^/=]+)=([^/]*)/")
_NULL_FOLDER: Final = "__HIVE_DEFAULT_PARTITION__"

_TOKEN: Final = re.compile(r"\\(?P<escaped>.)|\[(?P<set>[^\]]*)\]|(?P<plain>.)", re.DOTALL)
_PATTERNS: Final = {"*": "[^/]*", "?": "[^/]", "{": "(?:", "}": ")"}


def literal(path: str) -> str:
    """A local path as Spark's readers take it, which find patterns in it: [1], {a,b}, *."""
    return path if "://" in path else _SPECIAL.sub(r"\\\g<0>", path)


def has_wildcards(name: str) -> bool:
    """True of a name that a reader of Spark may take for a pattern."""
    return _SPECIAL.search(name) is not None


def is_hidden(name: str) -> bool:
    """True of files and folders that Spark passes over: marks, checksums and logs."""
    # A folder _day=1 is a partition.
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def has_scheme(path: str) -> bool:
    """True of a URL, or what Hadoop writes like one."""
    return _SCHEME.match(path) is not None


def without_scheme(path: str) -> str:
    """The path alone of a URL, or of what Hadoop writes like one: file:/x, s3a://bucket/x."""
    return _SCHEME.sub("", path, count=1)


def absolute(path: str) -> str:
    """The path alone, absolute and without `..`, as Spark makes it before it finds patterns."""
    plain = without_scheme(path) if has_scheme(path) else os.path.abspath(path)  # noqa: PTH100
    return posixpath.normpath("/" + plain.lstrip("/"))


def root_of(path: str) -> str:
    """Below which folders tell attributes: the path, or the part of it without wildcards."""
    plain = absolute(path)
    wildcard = _WILDCARD.search(plain)
    if wildcard is not None:
        plain = plain[: plain.rfind("/", 0, wildcard.start())]
    return re.sub(r"\\(.)", r"\1", plain).rstrip("/") + "/"


def pattern_of(path: str) -> str:
    """The regular expression of what a path with wildcards stands for, as Hadoop reads them."""
    depth = 0
    parts = []
    for token in _TOKEN.finditer(path):
        plain = token["plain"]
        depth += {"{": 1, "}": -1}.get(plain, 0)
        if token["set"] is not None:
            parts.append(f"[{re.sub('^[!^]', '^', token['set'])}]")
        elif plain == "," and depth:
            parts.append("|")
        else:
            parts.append(_PATTERNS.get(plain) or re.escape(plain or token["escaped"]))
    return "".join(parts)


def folder_values(path: str, root: str) -> dict[str, str | None]:
    """What the names of folders between `root` and a file tell, as Spark writes partitions."""
    place = without_scheme(path)
    below = place.removeprefix(root) if place.startswith(root) else ""
    return {
        unquote(name): None if value == _NULL_FOLDER else unquote(value)
        for name, value in _FOLDER.findall(below)
    }
