"""Fuzz the parser with atheris: `make fuzz SECONDS=60`.

Whatever the bytes, `parse` and `decode` raise a FilterError or give a filter; a filter prints as a
text that reads back as the same filter, and goes through its JSON form unchanged.
"""

import sys

import atheris

with atheris.instrument_imports(include=["boolcast"]):
    from boolcast.errors import FilterError
    from boolcast.filters.encoding import decode, encode
    from boolcast.filters.expressions import Filter
    from boolcast.filters.limits import Limits
    from boolcast.filters.parsing import parse

# The printed text may be longer than the text that was read: a space here, a parenthesis there.
ROOMY = Limits(text=1_000_000)

# Words that random bytes would take long to find.
WORDS = [
    *(" and ", " or ", "not ", " in (", " between ", " like '", " escape '", " is null", "true"),
    *("starts_with(a, '", "matches(a, '", "timestamp '2026-01-31'", " = ", "<>", '"a"', "a", "5"),
    *("'", "''", "(", ")", ",", "\0", "😀", "1e308", "9223372036854775808", "-0.0"),
]


def check(filter: Filter) -> None:
    """The filter survives its text and its JSON form."""
    text = str(filter)
    again = parse(text, limits=ROOMY)
    assert again == filter, text
    assert str(again) == text, text
    assert decode(encode(filter)) == filter, text
    filter.accepts({"a": 5})


def one_input(data: bytes) -> None:
    """Read the bytes as text, as words, and as JSON."""
    provider = atheris.FuzzedDataProvider(data)
    choice = provider.ConsumeIntInRange(0, 3)
    try:
        if choice == 0:
            count = provider.ConsumeIntInRange(1, 20)
            text = "".join(provider.PickValueInList(WORDS) for _ in range(count))
            check(parse(text))
        elif choice == 1:
            check(decode(provider.ConsumeBytes(len(data))))
        elif choice == 2:
            check(parse(provider.ConsumeUnicode(len(data))))
        else:
            check(parse(provider.ConsumeBytes(len(data)).decode(errors="surrogateescape")))
    except FilterError as error:
        str(error)


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
