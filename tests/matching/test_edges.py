"""Wrong arguments of a matcher, and what its first calls in a process have to wait for."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from boolcast.errors import ArgumentError, UsageError
from boolcast.matching.matcher import Matcher


@pytest.mark.parametrize("url", ["s3://x/y", "file:///x", "memory::x"])
def test_a_url_is_no_folder(url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for use in (Matcher().save, Matcher.load):
        with pytest.raises(UsageError, match="a URL and not a folder: give a Store"):
            use(url)
    assert not list(tmp_path.iterdir())


def test_an_empty_path_names_no_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for use in (Matcher().save, Matcher.load):
        with pytest.raises(UsageError, match="an empty path names no folder"):
            use("")
    assert not list(tmp_path.iterdir())
    assert Matcher().save(Path()) == Matcher().save(".") - 1 == 1


WARM = """
import sys
from boolcast import Matcher
matcher = Matcher()
matcher.warm_up()
import pyarrow as pa
from numba.core.dispatcher import Dispatcher
def loaded():
    compiled = {
        (module, name): len(value.overloads)
        for module in list(sys.modules) if module.startswith("boolcast.matching")
        for name, value in list(vars(sys.modules[module]).items()) if isinstance(value, Dispatcher)
    }
    return set(sys.modules), compiled
before = loaded()
assert sum(before[1].values()) > 10, before
def check(step):
    modules, compiled = loaded()
    assert modules == before[0], (step, sorted(modules - before[0]))
    assert compiled == before[1], (step, set(compiled.items()) - set(before[1].items()))
for n in range(1_100):
    matcher.add(str(n), f"a = {n} and b like 'x%' or c < {n} and t in (1, 2) or contains(b, '{n}')")
assert matcher.stats().pending == 76
check("add")
assert matcher.match({"a": 1, "b": "x", "c": 2e3}) == ["1"]
check("match")
assert matcher.match_batch(b'{"a": 7, "b": "xy"}').read_all().num_rows == 1
check("match_batch of JSON lines")
assert matcher.match_batch(pa.table({"a": [1, 2], "b": ["xy", "z"]})).read_all().num_rows == 1
check("match_batch of Arrow")
"""


def test_after_warming_up_an_empty_matcher_nothing_is_imported_or_compiled():
    done = subprocess.run([sys.executable, "-c", WARM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_arguments_of_a_wrong_type_are_refused(tmp_path):
    assert Matcher().save(tmp_path) == 1
    calls: dict[str, Callable[[Any], object]] = {
        "statistics are a Statistics": lambda wrong: Matcher(statistics=wrong),
        "limits are a boolcast.filters.limits.Limits": lambda wrong: Matcher(limits=wrong),
        "a version is a number": lambda wrong: Matcher.load(tmp_path, version=wrong),
    }
    for expected, call in calls.items():
        with pytest.raises(ArgumentError, match=f"^{expected}.*; given: str$"):
            call("1")


@pytest.mark.parametrize(
    "call",
    [
        lambda: Matcher()[5],  # type: ignore[index]
        lambda: Matcher().remove(5),  # type: ignore[arg-type]
        lambda: Matcher().add(5, "a < 5"),  # type: ignore[arg-type]
        lambda: Matcher().add_many(5),
        lambda: Matcher().match_batch(5),
        lambda: Matcher().save(5),  # type: ignore[arg-type]
        lambda: Matcher.load(5),  # type: ignore[arg-type]
    ],
    ids=["[]", "remove", "add", "add_many", "match_batch", "save", "load"],
)
def test_a_number_is_refused_with_what_was_expected(call):
    with pytest.raises(ArgumentError, match=r".+ (is|are) .+; given: int$"):
        call()


def test_one_subscription_is_singular():
    matcher = Matcher()
    assert repr(matcher) == "<Matcher: 0 subscriptions>"
    matcher.add("a", "x = 1")
    assert repr(matcher) == "<Matcher: 1 subscription>"


def test_missing_columns_are_named():
    with pytest.raises(UsageError, match="the column `filter` is missing from the table"):
        Matcher().add_many(pa.table({"subscription": ["a"]}))
    with pytest.raises(UsageError, match="the columns `filter` and `subscription` are missing"):
        Matcher().add_many(pa.table({"id": ["a"], "text": ["x = 1"]}))
