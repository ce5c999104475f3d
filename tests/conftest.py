"""Hypothesis profiles: `fast`, `default` and `long`, chosen by `--hypothesis-profile`.

The first two take the same examples in every run, so that a red run means that the change under
test broke something; `long` looks at new examples each time and prints how to repeat a failure.
"""

from hypothesis import settings

settings.register_profile("fast", max_examples=25, deadline=None, derandomize=True)
settings.register_profile("default", max_examples=200, deadline=None, derandomize=True)
settings.register_profile("long", max_examples=5_000, deadline=None, print_blob=True)
settings.load_profile("default")

# Run by `make fuzz` only: they import atheris.
collect_ignore = ["fuzz"]
