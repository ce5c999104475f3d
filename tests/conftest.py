"""Hypothesis profiles: `fast`, `default` and `long`, chosen by `--hypothesis-profile`.

The first two take the same examples in every run, so that a red run means that the change under
test broke something; `long` looks at new examples each time and prints how to repeat a failure.
"""

import gc
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from tests.s3 import S3Server

settings.register_profile("fast", max_examples=15, deadline=None, derandomize=True)
settings.register_profile("default", max_examples=80, deadline=None, derandomize=True)
settings.register_profile("long", max_examples=5_000, deadline=None, print_blob=True)
settings.load_profile("default")

# Run by `make fuzz` only: they import atheris.
collect_ignore = ["fuzz"]


@pytest.fixture(scope="session")
def s3() -> Iterator["S3Server"]:
    """One S3 for all tests of a process; each takes a bucket of its own."""
    from s3fs import S3FileSystem  # noqa: PLC0415 - takes seconds, and few tests need it

    from tests.s3 import S3Server  # noqa: PLC0415 - as above

    server = S3Server()
    yield server
    # The connections are closed when nobody has the file system any more.
    S3FileSystem.clear_instance_cache()
    gc.collect()
    server.stop()
