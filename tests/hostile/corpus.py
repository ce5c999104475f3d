"""Filters and events made to hurt, or by mistake: each gives a typed error or a defined answer.

`tests/hostile/test_hostile.py` holds the code to the outcomes, `benchmarks/hostile.py` prints the
times. Inputs are made by functions, so that making them is not part of the time.
"""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from boolcast.errors import EventError, FilterLimitError, FilterSyntaxError
from boolcast.filters.encoding import decode, encode
from boolcast.filters.evaluation import explain
from boolcast.filters.parsing import parse
from boolcast.model.events import Event


class Case(NamedTuple):
    """`run(make())` raises `outcome` if that is a type, and else returns it."""

    name: str
    run: Callable[[Any], object]
    make: Callable[[], Any]
    outcome: Any
    limit: str | None = None


def count(text: str) -> int:
    """How many predicates the filter has that the text is read as."""
    return sum(1 for _ in parse(text).predicates())


def count_json(data: str) -> int:
    return sum(1 for _ in decode(data).predicates())


def accepts(question: tuple[str, Any]) -> bool:
    text, value = question
    return parse(text).accepts({"a": value})


def evaluate(prepared: tuple[Any, Any]) -> bool:
    filter, event = prepared
    return bool(filter.accepts(event))


def size(members: Any) -> int:
    return len(Event.from_python(members))


def size_json(text: Any) -> int:
    return len(Event.from_json(text))


def printed_and_parsed(filter: Any) -> bool:
    return bool(parse(str(filter)) == decode(encode(filter)) == filter)


def explained(prepared: tuple[Any, Any]) -> bool:
    return len(str(explain(*prepared))) > 0


def repeated(part: str, times: int, end: str = "") -> Callable[[], str]:
    return lambda: part * times + end


def text_error(name: str, make: Callable[[], str]) -> Case:
    return Case(name, parse, make, FilterSyntaxError)


def text_limit(name: str, limit: str, make: Callable[[], str]) -> Case:
    return Case(name, parse, make, FilterLimitError, limit)


def nested_text(levels: int) -> str:
    return "(" * levels + "a = 1" + ")" * levels


def alternating_text(levels: int) -> str:
    """As deep a tree as so many parentheses can make."""
    return "a = 1 or b = 2 and (" * levels + "c = 3" + ")" * levels


def list_of(values: int) -> Callable[[], str]:
    return lambda: "a in (" + ", ".join(map(str, range(values))) + ")"


def long_list() -> str:
    return "a in (" + ", ".join(f"'{i}{'x' * 16_000}'" for i in range(100)) + ")"


def regexes(number: int) -> Callable[[], str]:
    return lambda: " or ".join(f"matches(a, '[a-z]{{{i + 1}}}x')" for i in range(number))


def json_leaf(**members: object) -> str:
    return json.dumps({"type": "comparison", "attribute": "a", "operator": "="} | members)


def json_nots(levels: int) -> str:
    return '{"type":"not","child":' * levels + json_leaf(value=1) + "}" * levels


def json_children(leaf: str, number: int) -> Callable[[], str]:
    return lambda: '{"type":"or","children":[' + ",".join([leaf] * number) + "]}"


def json_list(number: int) -> str:
    return json.dumps({"type": "in", "attribute": "a", "values": list(range(number))})


MATCHES_JSON = json.dumps({"type": "matches", "attribute": "a", "pattern": r"\pL{30}"})
LIKE_JSON = {"type": "like", "attribute": "a", "escape": ""}


def cyclic() -> dict[str, Any]:
    members: dict[str, Any] = {"b": 1}
    members["a"] = members
    return members


def deep_members(levels: int) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for _ in range(levels):
        members = {"a": members}
    return members


def deep_tuple(levels: int) -> tuple[Any, ...]:
    nested: tuple[Any, ...] = ()
    for _ in range(levels):
        nested = (nested,)
    return nested


def cyclic_list() -> dict[str, Any]:
    members: list[Any] = []
    members.append(members)
    return {"a": members}


def long_names() -> str:
    """Names that grow with the depth, repeated for every member of the innermost object."""
    inner = json.dumps({str(i): 1 for i in range(10_000)})
    for _ in range(60):
        inner = json.dumps({"x" * 1_000: 0})[:-2] + inner + "}"
    return inner


FILTERS = (
    text_error("nothing", str),
    text_error("a space", lambda: " "),
    text_limit("10 MB of spaces", "text", repeated(" ", 10_000_000)),
    text_limit("10⁵ opening parentheses", "depth", repeated("(", 100_000)),
    text_limit("10⁵ pairs of parentheses", "depth", lambda: nested_text(100_000)),
    Case("64 pairs of parentheses", count, lambda: nested_text(64), 1),
    text_limit("65 pairs of parentheses", "depth", lambda: nested_text(65)),
    Case("the deepest tree", count, lambda: alternating_text(64), 129),
    text_limit("a deeper tree", "depth", lambda: alternating_text(65)),
    text_error("10⁴ closing parentheses", repeated(")", 10_000)),
    text_limit("10⁵ times not", "depth", repeated("not ", 100_000)),
    Case("64 times not", count, repeated("not ", 64, "a = 1"), 1),
    Case("1,024 predicates", count, repeated("a = 1 or ", 1_023, "b = 2"), 1_024),
    text_limit("1,025 predicates", "predicates", repeated("a = 1 or ", 1_024, "b = 2")),
    text_limit("10⁶ predicates", "predicates", repeated("a=1 or ", 1_000_000, "b = 2")),
    Case("2,000 constants", count, repeated("true or ", 2_000, "false"), 0),
    Case("a list of 10,000", count, list_of(10_000), 1),
    text_limit("a list of 10,001", "values", list_of(10_001)),
    text_limit("a list of 10⁶", "values", list_of(1_000_000)),
    Case("a list of 100 long strings", count, long_list, 1),
    text_limit("10 MB in one value of a list", "text", lambda: f"a in ('{'x' * 10_000_000}')"),
    text_error("an endless list", lambda: "a in (1" + ", 1" * 5_000),
    text_error("a list of two kinds", lambda: "a in (1, 'x')"),
    text_error("a list of kinds that Python takes for one", lambda: "a in (1, true)"),
    text_error("bounds of two kinds", lambda: "a between 1 and timestamp '2026-01-31'"),
    text_error("an unclosed string", lambda: "a = 'x"),
    text_error("an unclosed string of quotes", lambda: "a = " + "'" * 15_001),
    text_limit("an unclosed string of 10 MB", "text", lambda: "a = '" + "x" * 10_000_000),
    text_error("an unclosed name", lambda: '"a = 1'),
    text_limit("a string of 10 MB", "text", lambda: f"a = '{'x' * 10_000_000}'"),
    text_limit("a name of 10 MB", "text", lambda: "a" * 10_000_000 + " = 1"),
    text_limit("a filter of 10 MB", "text", repeated("abc = 'def' and ", 650_000, "a = 1")),
    text_error("NUL bytes", repeated("\0", 1_000)),
    Case("NUL in a string", accepts, lambda: ("a = '\0'", "\0"), True),
    text_error("a lone surrogate", lambda: "a = '\ud800'"),
    text_error("text turned from right to left", lambda: "a = \u202e1"),
    text_error("an integer of 16,000 digits", lambda: "a = " + "9" * 16_000),
    Case("an integer of 16,000 zeros", accepts, lambda: ("a = " + "0" * 16_000 + "1", 1), True),
    text_limit("a number of 10⁶ digits", "text", lambda: "a = " + "9" * 1_000_000),
    Case("an integer past 64 bits", accepts, lambda: ("a = 18446744073709551616", 2.0**64), True),
    text_error("a number past float64", lambda: "a = 1e999999999"),
    Case("a number below float64", accepts, lambda: ("a = 1e-999999999", 0), True),
    text_error("digits, then a letter", lambda: "a = " + "1" * 16_000 + "x"),
    text_error("a number with many dots", lambda: "a = " + "1." * 8_000),
    text_error("a name with many dots", lambda: "a." * 8_000 + "5 = 1"),
    text_error("10⁴ operators", repeated("<", 10_000)),
    text_error("functions in functions", repeated("contains(", 1_500)),
    text_error("a misspelt word of 16,000 letters", lambda: "a = 1 " + "andor" * 3_200),
    text_error("bounds without end", lambda: "a between " + "1 and " * 2_500),
    text_error("a timestamp without end", lambda: "a = timestamp '" + "2026-" * 3_000 + "'"),
    text_error("an escape without end", lambda: "a like '" + "!" * 15_001 + "' escape '!'"),
    text_error("a repetition of a repetition", lambda: "matches(a, '(x{1000}){1000}')"),
    text_error("a class repeated 1,000 times", lambda: r"matches(a, '\pL{1000}')"),
    text_error("a class repeated 50 times", lambda: r"matches(a, '\pL{50}')"),
    text_error("1,000 times a class or itself", lambda: "matches(a, '" + r"\pL|" * 1_000 + "')"),
    text_error("5,000 classes", lambda: "matches(a, '" + r"\pL" * 5_000 + "')"),
    text_error("5,000 unclosed groups", lambda: "matches(a, '" + "(" * 5_000 + "')"),
    Case("5,000 groups", count, lambda: "matches(a, '" + "(" * 5_000 + ")" * 5_000 + "')", 1),
    Case("32 regular expressions", count, regexes(32), 32),
    text_limit("33 regular expressions", "regexes", regexes(33)),
    Case(
        "32 large regular expressions",
        count,
        lambda: " or ".join(rf"matches(a, '\pL{{10}}{i}')" for i in range(32)),
        32,
    ),
    text_error("a regular expression that looks back", lambda: r"matches(a, '(a)\1')"),
)

EVALUATIONS = (
    Case(
        "a catastrophic expression on 100 KB",
        accepts,
        lambda: ("matches(a, '^(a+)+$')", "a" * 100_000 + "!"),
        False,
    ),
    Case("another on 100 KB", accepts, lambda: ("matches(a, '(x+x+)+y')", "x" * 100_000), False),
    Case(
        "a large expression on 100 KB",
        accepts,
        lambda: ("matches(a, '(a?){500}a{500}b')", "a" * 100_000),
        False,
    ),
    Case(
        "a larger expression on 10 KB",
        accepts,
        lambda: ("matches(a, '(a?){900}a{900}b')", "a" * 10_000),
        False,
    ),
    Case(
        "LIKE with 8,000 % on 100 KB",
        accepts,
        lambda: (f"a like '{'%a' * 8_000}'", "a" * 7_999 + "b" * 100_000),
        False,
    ),
    Case(
        "LIKE with % and _ on 10 KB",
        accepts,
        lambda: (f"a like '{'%a_b' * 4_000}'", "ab" * 5_000),
        False,
    ),
    Case(
        "LIKE with 16,000 characters, all different",
        accepts,
        lambda: (f"a like '{''.join(map(chr, range(0x4E00, 0x4E00 + 16_000)))}_'", "x"),
        False,
    ),
    Case(
        "contains on 10 MB",
        accepts,
        lambda: (f"contains(a, '{'a' * 8_000}b')", "a" * 10_000_000),
        False,
    ),
    Case("a list of 10,000 missed", evaluate, lambda: (parse(list_of(10_000)()), {"a": -1}), False),
    Case(
        "1,024 predicates missed",
        evaluate,
        lambda: (parse("a = 1 or " * 1_023 + "a = 2"), {"a": 3}),
        False,
    ),
    Case("the deepest tree", evaluate, lambda: (parse(alternating_text(64)), {"b": 2}), False),
    Case("the deepest tree explained", explained, lambda: (parse(alternating_text(64)), {}), True),
    Case("the deepest tree printed", printed_and_parsed, lambda: parse(alternating_text(64)), True),
)

JSON_FILTERS = (
    Case("nothing", decode, str, FilterSyntaxError),
    Case("half of it", decode, lambda: json_leaf(value=1)[:-5], FilterSyntaxError),
    Case("not UTF-8", decode, lambda: b'{"type": "\xff"}', FilterSyntaxError),
    Case("a lone surrogate", decode, lambda: '{"type": "\ud800"}', FilterSyntaxError),
    Case("no object", decode, lambda: "5", FilterSyntaxError),
    Case("an unknown node", decode, lambda: '{"type": "xor", "children": []}', FilterSyntaxError),
    Case("an unknown member", decode, lambda: json_leaf(value=1, negated=True), FilterSyntaxError),
    Case("an AND of nothing", decode, lambda: '{"type": "and", "children": []}', FilterSyntaxError),
    Case("an AND of a number", decode, lambda: '{"type":"and","children":5}', FilterSyntaxError),
    Case("no name", decode, lambda: json_leaf(attribute="", value=1), FilterSyntaxError),
    Case("no value", decode, lambda: json_leaf(value=None), FilterSyntaxError),
    Case("NaN", decode, lambda: json_leaf(value=float("nan")), FilterSyntaxError),
    Case("a number past float64", decode, lambda: json_leaf(value=10**400), FilterSyntaxError),
    Case(
        "5,000 digits",
        decode,
        lambda: json_leaf(value=1)[:-1] + "1" * 5_000 + "}",
        FilterSyntaxError,
    ),
    Case(
        "a timestamp past the calendar",
        decode,
        lambda: json_leaf(value={"microseconds": 10**30}),
        FilterSyntaxError,
    ),
    Case("two kinds", decode, lambda: json_list(2).replace("0", "true"), FilterSyntaxError),
    Case("10⁵ times not", decode, lambda: json_nots(100_000), FilterLimitError, "depth"),
    Case("10⁵ opening brackets", decode, repeated("[", 100_000), FilterLimitError, "depth"),
    Case("64 times not", count_json, lambda: json_nots(64), 1),
    Case("65 times not", decode, lambda: json_nots(65), FilterLimitError, "depth"),
    Case("500 times not", decode, lambda: json_nots(500), FilterLimitError, "depth"),
    Case("a list of 10,000", count_json, lambda: json_list(10_000), 1),
    Case("a list of 10⁵", decode, lambda: json_list(100_000), FilterLimitError, "values"),
    Case(
        "10⁴ predicates",
        decode,
        json_children(json_leaf(value=1), 10_000),
        FilterLimitError,
        "predicates",
    ),
    Case(
        "10⁴ large regular expressions",
        decode,
        json_children(MATCHES_JSON, 10_000),
        FilterLimitError,
        "regexes",
    ),
    Case(
        "10⁵ constants",
        decode,
        json_children('{"type":"constant","value":true}', 100_000),
        FilterLimitError,
        "text",
    ),
    Case(
        "a pattern of 1 MB",
        decode,
        lambda: json.dumps(LIKE_JSON | {"pattern": "%a" * 500_000}),
        FilterLimitError,
        "text",
    ),
    Case(
        "1 MB in one value of a list",
        decode,
        lambda: json.dumps({"type": "in", "attribute": "a", "values": ["x" * 1_000_000]}),
        FilterLimitError,
        "text",
    ),
)

EVENTS = (
    Case("a cycle", size, cyclic, EventError),
    Case("a cycle in a list", size, cyclic_list, 1),
    Case("10⁵ levels", size, lambda: deep_members(100_000), EventError),
    Case("a name that is a number", size, lambda: {5: 1}, EventError),
    Case("a name that is 10⁵ tuples deep", size, lambda: {deep_tuple(500): 1}, EventError),
    Case("a lone surrogate", size, lambda: {"a": "\ud800"}, EventError),
    Case("a lone surrogate in a name", size, lambda: {"\ud800": 1}, EventError),
    Case("a clash", size, lambda: {"a": {"b": 1}, "a.b": 1}, EventError),
    Case("an integer of 10⁵ digits", size, lambda: {"a": 10**100_000}, 1),
    Case("10⁴ attributes", size, lambda: {str(i): i for i in range(10_000)}, 10_000),
)

JSON_EVENTS = (
    Case("nothing", size_json, str, EventError),
    Case("half a line", size_json, lambda: '{"a": 1, "b": "x', EventError),
    Case("two objects", size_json, lambda: '{"a": 1}{"b": 2}', EventError),
    Case("no object", size_json, lambda: "[1, 2]", EventError),
    Case("not UTF-8", size_json, lambda: b'{"a": "\xff"}', EventError),
    Case("UTF-16", size_json, lambda: '{"a": 1}'.encode("utf-16"), EventError),
    Case("half a surrogate pair", size_json, lambda: r'{"a": "\ud83d"}', EventError),
    Case("NaN", size_json, lambda: '{"a": NaN}', EventError),
    Case("a number of 10⁶ digits", size_json, lambda: '{"a": ' + "9" * 1_000_000 + "}", EventError),
    Case("a fraction of 10⁵ digits", size_json, lambda: '{"a": 0.' + "9" * 100_000 + "}", 1),
    Case("10⁵ objects deep", size_json, repeated('{"a":', 100_000), EventError),
    Case("10⁵ arrays deep", size_json, lambda: '{"a":' + "[" * 100_000, EventError),
    Case("500 arrays deep", size_json, lambda: '{"a":' + "[" * 500 + "]" * 500 + "}", 1),
    Case("65 objects deep", size_json, lambda: json.dumps(deep_members(65)), EventError),
    Case("long names, repeated", size_json, long_names, EventError),
    Case("a string of 1 MB", size_json, lambda: json.dumps({"a": "x" * 1_000_000}), 1),
)

CORPUS: dict[str, tuple[Case, ...]] = {
    "filter": FILTERS,
    "evaluation": EVALUATIONS,
    "JSON filter": JSON_FILTERS,
    "event": EVENTS,
    "JSON event": JSON_EVENTS,
}
