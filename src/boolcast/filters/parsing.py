"""The parser: a Pratt parser over the words of `filters.scanning`.

NOT binds tighter than AND, AND tighter than OR. Recursion is bounded by the limit on depth.
"""

import math
from typing import Final, NoReturn, cast

from msgspec.structs import replace

from boolcast.errors import FilterSchemaError
from boolcast.filters import slips
from boolcast.filters.canonical import FLIPPED
from boolcast.filters.expressions import (
    FALSE,
    TRUE,
    And,
    AttributeComparison,
    Between,
    Comparison,
    Filter,
    In,
    IsNull,
    Leaf,
    Like,
    Matches,
    Not,
    Operator,
    Or,
    StringTest,
)
from boolcast.filters.limits import DEFAULT_LIMITS, LIMITS_EXPECTED, Limits
from boolcast.filters.scanning import Scanner
from boolcast.filters.schema_check import find_problem
from boolcast.filters.words import FUNCTIONS, StringFunction, escaped
from boolcast.model.arguments import check_argument
from boolcast.model.schemas import Schema, check_schema
from boolcast.model.values import INTEGER_MAX, INTEGER_MIN, Timestamp, Value, kind_of

_POWERS: Final = {"or": 1, "and": 2}
_NOT_POWER: Final = 3
_OPERATORS: Final[dict[str, Operator]] = {operator: operator for operator in FLIPPED} | {"<>": "!="}


def parse(text: str, *, schema: Schema | None = None, limits: Limits = DEFAULT_LIMITS) -> Filter:
    """Read a filter's text.

    Raises FilterSyntaxError with the position, FilterLimitError past one of the limits, and,
    where a schema is given, FilterSchemaError for what it does not know. ArgumentError for
    arguments of other types.

    >>> str(parse("price<25 AND (condition='new')"))
    "price < 25 and condition = 'new'"
    """
    check_argument(text, str, "the text of a filter is a string such as 'price < 25'")
    check_schema(schema)
    check_argument(limits, Limits, LIMITS_EXPECTED)
    try:
        return _Parser(text, schema, limits).parse()
    except RecursionError:
        raise limits.error("depth", text) from None


class _Parser:
    __slots__ = ("depth", "limits", "predicates", "regexes", "scanner", "schema")

    def __init__(self, text: str, schema: Schema | None, limits: Limits) -> None:
        self.limits = limits
        self.schema = schema
        self.depth = 0
        self.predicates = 0
        self.regexes = 0
        self.scanner = Scanner(text, limits)

    def parse(self) -> Filter:
        node = self._expression(0)
        if self.scanner.kind != "end":
            self._fail_after_operand()
        return node

    def _expression(self, minimum: int) -> Filter:
        """An operand and the ANDs and ORs after it that bind tighter than `minimum`."""
        left = self._operand()
        scanner = self.scanner
        while (power := _POWERS.get(scanner.keyword or "", 0)) > minimum:
            keyword = scanner.keyword
            children = [left]
            while scanner.keyword == keyword:
                scanner.advance()
                children.append(self._expression(power))
            left = And(tuple(children)) if keyword == "and" else Or(tuple(children))
        return left

    def _operand(self) -> Filter:
        scanner = self.scanner
        if scanner.kind == "open":
            return self._parenthesised()
        if scanner.keyword == "not":
            return self._negation()
        if scanner.keyword in ("true", "false"):
            return self._constant()
        return self._predicate()

    def _parenthesised(self) -> Filter:
        scanner = self.scanner
        start = scanner.start
        self._descend()
        scanner.advance()
        node = self._expression(0)
        if scanner.kind != "close":
            if scanner.kind == "end":
                scanner.fail("`)`", hint="this `(` is not closed", position=start)
            self._fail_after_operand()
        scanner.advance()
        self.depth -= 1
        return node

    def _negation(self) -> Filter:
        scanner = self.scanner
        self._descend()
        scanner.advance()
        is_enclosed = scanner.kind == "open"
        node = self._expression(_NOT_POWER)
        self.depth -= 1
        if isinstance(node, StringTest | Matches) and not node.negated and not is_enclosed:
            return replace(node, negated=True)
        return Not(node)

    def _descend(self) -> None:
        self.depth += 1
        if self.depth > self.limits.depth:
            raise self.limits.error("depth", self.scanner.text, self.scanner.start)

    def _constant(self) -> Filter:
        scanner = self.scanner
        start = scanner.start
        is_true = scanner.keyword == "true"
        scanner.advance()
        if scanner.kind == "operator":
            return self._flipped(is_true, start)
        return TRUE if is_true else FALSE

    def _predicate(self) -> Filter:
        scanner = self.scanner
        start = scanner.start
        if scanner.kind == "name" and scanner.keyword is None:
            name = scanner.lexeme
            if (simple := scanner.read_comparison()) is not None:
                operator, value, value_start = simple
                scanner.advance()
                predicate = Comparison(name, _OPERATORS[operator], value)
                return self._count(predicate, start, value_start)
            scanner.advance()
            if scanner.kind == "open":
                return self._function(name, start)
            if scanner.kind == "string" and name.lower() == "timestamp":
                return self._flipped(self._timestamp(), start)
            return self._behind_attribute(name, start, is_quoted=False)
        if scanner.kind == "quoted":
            name = self._quoted_name()
            return self._behind_attribute(name, start, is_quoted=True)
        if scanner.kind in ("number", "string"):
            return self._flipped(self._value("a value"), start)
        hint = slips.in_place_of_operand(scanner.keyword, scanner.lexeme)
        return scanner.fail("an attribute, `not` or `(`", hint=hint)

    def _behind_attribute(self, name: str, start: int, *, is_quoted: bool) -> Filter:
        scanner = self.scanner
        if scanner.kind == "operator":
            return self._comparison(name, start, is_quoted=is_quoted)
        keyword = scanner.keyword
        negated = keyword == "not"
        if negated:
            scanner.advance()
            keyword = scanner.keyword
        elif keyword == "is":
            return self._null_test(name, start)
        if keyword == "in":
            return self._list(name, start, negated=negated)
        if keyword == "between":
            return self._between(name, start, negated=negated)
        if keyword == "like":
            return self._like(name, start, negated=negated)
        if negated:
            hint = slips.behind_negation(name, scanner.kind, scanner.lexeme, keyword)
            scanner.fail("`in`, `between` or `like`", hint=hint)
        hint = slips.behind_attribute(name, scanner.kind, scanner.lexeme, keyword)
        return scanner.fail("an operator such as =, <, in, like or is null", hint=hint)

    def _comparison(self, name: str, start: int, *, is_quoted: bool) -> Filter:
        scanner = self.scanner
        operator = self._operator()
        value_start = scanner.start
        kind = scanner.kind
        if kind == "name" and scanner.keyword is None:
            other = scanner.lexeme
            scanner.advance()
            if scanner.kind == "string" and other.lower() == "timestamp":
                value: Value = self._timestamp()
            elif scanner.kind in ("string", "number"):
                self._fail_after_operand(slips.behind_word(other, scanner.lexeme))
            else:
                predicate = AttributeComparison(name, operator, other)
                return self._count(predicate, start, value_start)
        elif kind == "quoted" and is_quoted:
            other = self._quoted_name()
            return self._count(AttributeComparison(name, operator, other), start, value_start)
        else:
            value = self._value("a value or an attribute")
        return self._count(Comparison(name, operator, value), start, value_start)

    def _operator(self) -> Operator:
        lexeme = self.scanner.lexeme
        self.scanner.advance()
        return _OPERATORS[lexeme]

    def _null_test(self, name: str, start: int) -> Filter:
        scanner = self.scanner
        scanner.advance()
        negated = scanner.keyword == "not"
        if negated:
            scanner.advance()
        if scanner.keyword != "null":
            expected = "`null`" if negated else "`null` or `not null`"
            scanner.fail(expected, hint=slips.in_null_test(scanner.lexeme))
        scanner.advance()
        return self._count(IsNull(name, negated), start, start)

    def _list(self, name: str, start: int, *, negated: bool) -> Filter:
        scanner = self.scanner
        scanner.advance()
        if scanner.kind != "open":
            scanner.fail("`(`", hint="a list of values looks like ('a', 'b')")
        list_start = scanner.start
        values: list[Value] = []
        while True:
            # Each value may be as long as a whole filter; the list as long as it likes.
            taken = scanner.next - list_start
            scanner.extend(taken)
            list_start = scanner.next
            scanner.advance()
            value_start = scanner.start
            value = self._value("a value")
            values.append(value)
            if len(values) > self.limits.values:
                raise self.limits.error("values", scanner.text, value_start)
            self._check_kind(value, values[0], value_start)
            if scanner.kind != "comma":
                break
        if scanner.kind != "close":
            scanner.fail("`,` or `)`", hint=slips.in_list(scanner.kind))
        scanner.extend(scanner.next - list_start)
        scanner.advance()
        return self._count(In(name, tuple(values), negated), start, value_start)

    def _between(self, name: str, start: int, *, negated: bool) -> Filter:
        scanner = self.scanner
        scanner.advance()
        low_start = scanner.start
        low = self._value("a value")
        if scanner.keyword != "and":
            scanner.fail("`and`", hint="write `between low and high`")
        scanner.advance()
        high_start = scanner.start
        high = self._value("a value")
        self._check_kind(high, low, high_start)
        return self._count(Between(name, low, high, negated), start, low_start)

    def _check_kind(self, value: Value, first: Value, start: int) -> None:
        kind, wanted = kind_of(value), kind_of(first)
        if kind is not wanted:
            problem = f"the values must be of one kind, not {wanted} and {kind}"
            self.scanner.refuse(problem, start, expected=f"a {wanted}")

    def _like(self, name: str, start: int, *, negated: bool) -> Filter:
        scanner = self.scanner
        scanner.advance()
        pattern_start, pattern_end = scanner.start, scanner.next
        pattern = self._string("a pattern in single quotes")
        escape = ""
        if scanner.kind == "name" and scanner.lexeme.lower() == "escape":
            scanner.advance()
            escape_start = scanner.start
            escape = self._string("a single character in single quotes")
            if len(escape) != 1:
                expected = "a single character in single quotes"
                scanner.refuse(
                    "the escape must be a single character", escape_start, expected=expected
                )
        try:
            predicate = Like(name, pattern, escape, negated)
        except ValueError as error:
            expected = "a pattern in which each escape stands before %, _ or itself"
            scanner.refuse(str(error), pattern_start, expected=expected, end=pattern_end)
        return self._count(predicate, start, pattern_start)

    def _function(self, word: str, start: int) -> Filter:
        scanner = self.scanner
        function = word.lower()
        if function not in FUNCTIONS:
            problem = f"there is no function `{slips.shortened(word)}`"
            expected = "one of " + ", ".join(FUNCTIONS)
            scanner.refuse(problem, start, expected=expected, hint=slips.in_place_of_function(word))
        scanner.advance()
        attribute_start = scanner.start
        hint = f"write {function}(attribute, 'text')"
        name = self._name(hint)
        if scanner.kind != "comma":
            scanner.fail("`,`", hint=hint)
        scanner.advance()
        operand_start, operand_end = scanner.start, scanner.next
        operand = self._string("a string in single quotes")
        if scanner.kind != "close":
            scanner.fail("`)`")
        scanner.advance()
        predicate: Leaf
        if function == "matches":
            predicate = self._regex(name, operand, operand_start, operand_end)
        else:
            predicate = StringTest(name, cast("StringFunction", function), operand)
        return self._count(predicate, attribute_start, operand_start)

    def _regex(self, name: str, pattern: str, start: int, end: int) -> Matches:
        self.regexes += 1
        if self.regexes > self.limits.regexes:
            raise self.limits.error("regexes", self.scanner.text, start)
        try:
            return Matches(name, pattern)
        except ValueError as error:
            hint = slips.in_regex(pattern)
            expected = "a regular expression that RE2 takes"
            self.scanner.refuse(escaped(str(error)), start, expected=expected, end=end, hint=hint)

    def _flipped(self, value: Value, start: int) -> Filter:
        """`25 > price` read as `price < 25`."""
        scanner = self.scanner
        if scanner.kind != "operator":
            scanner.fail("an operator such as = or <", hint="a predicate begins with an attribute")
        operator = FLIPPED[self._operator()]
        name_start = scanner.start
        name = self._name()
        return self._count(Comparison(name, operator, value), name_start, start)

    def _name(self, hint: str | None = None) -> str:
        """An attribute's name, plain or quoted."""
        scanner = self.scanner
        if scanner.kind == "quoted":
            return self._quoted_name()
        if scanner.kind != "name" or scanner.keyword is not None:
            scanner.fail("an attribute", hint=hint)
        name = scanner.lexeme
        scanner.advance()
        return name

    def _value(self, expected: str) -> Value:
        """A literal of any kind."""
        scanner = self.scanner
        lexeme = scanner.lexeme
        match scanner.kind:
            case "number":
                value: Value = self._number(lexeme)
            case "string":
                value = self._checked_text(lexeme[1:-1].replace("''", "'"))
            case "name" if scanner.keyword in ("true", "false"):
                value = scanner.keyword == "true"
            case "name" if lexeme.lower() == "timestamp":
                scanner.advance()
                return self._timestamp()
            case "quoted":
                scanner.refuse_quoted(expected)
            case _:
                before = scanner.text[: scanner.start].rstrip()[-1:]
                hint = slips.in_place_of_value(before, scanner.kind, lexeme, scanner.keyword)
                scanner.fail(expected, hint=hint)
        scanner.advance()
        return value

    def _number(self, lexeme: str) -> int | float:
        if len(lexeme) <= 18 and lexeme.isdigit():
            return int(lexeme)
        value = float(lexeme)
        if math.isinf(value):
            self.scanner.refuse_word(
                "the number is not finite as float64",
                expected="a finite number",
                hint="the largest number is about 1.8e308",
            )
        digits = lexeme.lstrip("+-")
        if digits.isdigit() and abs(value) <= 2.0**63:
            # Zeros in front count where Python limits the digits it reads.
            exact = int(digits.lstrip("0") or "0")
            exact = -exact if lexeme[0] == "-" else exact
            return exact if INTEGER_MIN <= exact <= INTEGER_MAX else value
        return value

    def _string(self, expected: str) -> str:
        scanner = self.scanner
        if scanner.kind != "string":
            if scanner.kind == "quoted":
                scanner.refuse_quoted(expected)
            hint = slips.in_place_of_string(scanner.kind, scanner.lexeme, scanner.keyword)
            scanner.fail(expected, hint=hint)
        text = self._checked_text(scanner.lexeme[1:-1].replace("''", "'"))
        scanner.advance()
        return text

    def _timestamp(self) -> Timestamp:
        """The string after the word `timestamp`."""
        scanner = self.scanner
        expected = "a string such as '2026-01-31T12:00:00Z'"
        if scanner.kind != "string":
            scanner.fail(expected)
        try:
            value = Timestamp.parse(scanner.lexeme[1:-1])
        except ValueError as error:
            hint = "write timestamp '2026-01-31T12:00:00Z'"
            scanner.refuse_word(f"not a timestamp: {error}", expected=expected, hint=hint)
        scanner.advance()
        return value

    def _quoted_name(self) -> str:
        scanner = self.scanner
        name = self._checked_text(scanner.lexeme[1:-1].replace('""', '"'))
        if not name:
            scanner.refuse_word("an attribute's name must not be empty", expected="a name")
        scanner.advance()
        return name

    def _checked_text(self, text: str) -> str:
        if not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError:
                problem = "there is a lone surrogate, which is no character"
                self.scanner.refuse_word(problem, expected="a text of characters")
        return text

    def _count(self, predicate: Leaf, start: int, value_start: int) -> Filter:
        """The predicate, once it is within the limit and fits the schema."""
        self.predicates += 1
        if self.predicates > self.limits.predicates:
            raise self.limits.error("predicates", self.scanner.text, start)
        if self.schema is not None:
            problem = find_problem(predicate, self.schema)
            if problem is not None:
                raise FilterSchemaError(
                    problem.text,
                    text=self.scanner.text,
                    position=value_start if problem.is_operand else start,
                    hint=problem.hint,
                )
        return predicate

    def _fail_after_operand(self, hint: str | None = None) -> NoReturn:
        scanner = self.scanner
        expected = "`and`, `or` or `)`" if self.depth else "`and`, `or` or the end"
        before = scanner.text[scanner.start - 1]
        hint = hint or slips.after_operand(scanner.kind, scanner.lexeme, before)
        scanner.fail(expected, hint=hint)
