"""Many subscriptions at once: each text of a new form is parsed, the others only filled in.

A text is split at its literals. What is left is its form; texts of one form have one shape,
and their literals are looked up in a table for each test, so that a constant is read once
however often it occurs. Where a text does not fit in (a literal that changes the shape, a form
with a pattern, a residual) it is parsed like any other.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple, cast

import msgspec
import numpy as np
import pyarrow as pa
from msgspec.structs import replace

from boolcast.errors import FilterError, UsageError
from boolcast.filters.expressions import Between, Comparison, Filter, In, IsNull, Leaf, Node
from boolcast.filters.limits import Limits
from boolcast.filters.negation import to_nnf
from boolcast.filters.parsing import parse
from boolcast.matching.columns import Column, ShapeGroup
from boolcast.matching.live import LiveSegment
from boolcast.matching.selectivity import Selectivity
from boolcast.matching.shapes import Shape, take_apart, test_of
from boolcast.model.values import Value

REJECTS: Final = pa.schema(
    [
        ("row", pa.int64()),
        ("subscription", pa.string()),
        ("filter", pa.string()),
        ("error", pa.string()),
        ("position", pa.int64()),
    ]
)
"""What `add_many` returns: the rows that it could not take, and why."""

_LITERAL: Final = re.compile(
    r"""("[^"]*+(?:""[^"]*+)*+"|'[^']*+(?:''[^']*+)*+'"""
    r"""|(?<![\w.])[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.]))"""
)


class Reject(NamedTuple):
    """A row that was not taken."""

    row: int
    subscription: str | None
    filter: str | None
    error: str
    position: int | None


class Subscription(msgspec.Struct):
    """A line of JSON."""

    subscription: str
    filter: str


def rows_of(
    subscriptions: pa.Table | pa.RecordBatch | bytes,
) -> Iterator[tuple[str | None, str | None, str | None]]:
    """Id, text and, where a row cannot be read, the reason."""
    if isinstance(subscriptions, bytes):
        decoder = msgspec.json.Decoder(Subscription)
        for line in subscriptions.splitlines():
            try:
                row = decoder.decode(line)
            except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
                yield None, None, f"the line cannot be read: {error}"
            else:
                yield row.subscription, row.filter, None
        return
    missing = {"subscription", "filter"} - set(subscriptions.schema.names)
    if missing:
        raise UsageError(f"the table lacks the column {' and '.join(sorted(missing))}")
    for batch in (
        subscriptions.to_batches() if isinstance(subscriptions, pa.Table) else [subscriptions]
    ):
        ids = batch.column("subscription").cast(pa.string()).to_pylist()
        texts = batch.column("filter").cast(pa.string()).to_pylist()
        for subscription, text in zip(ids, texts, strict=True):
            is_null = subscription is None or text is None
            yield (
                subscription,
                text,
                "subscription and filter must not be null" if is_null else None,
            )


class Loader:
    """Takes up rows, and makes a segment of them."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.subscriptions: list[str] = []
        self.texts: list[str] = []
        self.rejects: list[Reject] = []
        self._residuals: dict[int, Filter] = {}
        self._groups: dict[Shape, ShapeGroup] = {}
        self._forms: dict[tuple[str, ...], _Form | None] = {}

    def take(self, rows: Iterable[tuple[str | None, str | None, str | None]]) -> None:
        """Take up rows; those that cannot be are listed in `rejects`."""
        for number, (subscription, text, problem) in enumerate(rows):
            if subscription is None or text is None:
                self.rejects.append(Reject(number, subscription, text, problem or "", None))
                continue
            slot = len(self.texts)
            try:
                if not self._fill_in(slot, text):
                    self._parse(slot, text)
            except FilterError as error:
                reason = error.problem + (f"; {error.hint}" if error.hint else "")
                self.rejects.append(Reject(number, subscription, text, reason, error.position))
            else:
                self.subscriptions.append(subscription)
                self.texts.append(text)

    def _fill_in(self, slot: int, text: str) -> bool:
        """Take up a text of a known form; False where it must be parsed."""
        if len(text) > self.limits.text:
            return False
        pieces = _LITERAL.split(text)
        literals = pieces[1::2]
        key = tuple(pieces[::2]) + tuple(
            [each if each[0] == '"' else "'" if each[0] == "'" else "0" for each in literals]
        )
        form = self._forms.get(key)
        if form is None:
            if key in self._forms:
                return False
            form = self._forms[key] = self._form(text, literals)
            if form is None:
                return False
        return form.take(slot, literals)

    def _form(self, text: str, literals: list[str]) -> "_Form | None":
        """The form of a text, or None if texts of this form must be parsed each."""
        node = to_nnf(cast("Node", parse(text, limits=self.limits)))
        parts = take_apart(node)
        leaves = cast("list[Leaf]", list(node.predicates()))
        values = [each for each in literals if each[0] != '"']
        if parts is None or len(parts[0].tests) != len(leaves):
            return None
        counts = [_literals_of(leaf) for leaf in leaves]
        if None in counts or sum(cast("list[int]", counts)) != len(values):
            return None
        return _Form(self._group(parts[0]), leaves, cast("list[int]", counts))

    def _group(self, shape: Shape) -> ShapeGroup:
        group = self._groups.get(shape)
        if group is None:
            group = self._groups[shape] = ShapeGroup(shape)
        return group

    def _parse(self, slot: int, text: str) -> None:
        filter = parse(text, limits=self.limits)
        parts = take_apart(filter)
        if parts is None:
            return
        shape, constants = parts
        self._group(shape).add(slot, constants)
        if any(test.kind == "residual" for test in shape.tests):
            self._residuals[slot] = filter

    def segment(self, first_sequence: int, selectivity: Selectivity) -> LiveSegment:
        """All that was taken up, with sequence numbers from the first one on."""
        sequence = np.arange(first_sequence, first_sequence + len(self.texts))
        return LiveSegment.of_groups(
            [group for group in self._groups.values() if group.slots],
            sequence,
            self.subscriptions,
            self.texts,
            self._residuals,
            selectivity,
        )


class _Form:
    """Texts that differ in their literals only, and mean filters of one shape."""

    __slots__ = ("_codes", "_counts", "_group", "_leaves")

    def __init__(self, group: ShapeGroup, leaves: list[Leaf], counts: list[int]) -> None:
        self._group = group
        self._leaves = leaves
        self._counts = counts
        self._codes: list[dict[tuple[str, ...] | str, int]] = [{} for _ in leaves]

    def take(self, slot: int, literals: list[str]) -> bool:
        """Take up a text by its literals; False where they change the shape."""
        values = [each for each in literals if each[0] != '"']
        codes: list[int] = []
        at = 0
        for number, count in enumerate(self._counts):
            key = values[at] if count == 1 else tuple(values[at : at + count])
            at += count
            code = self._codes[number].get(key)
            if code is None:
                code = self._codes[number][key] = self._code(number, key)
            if code < 0:
                return False
            codes.append(code)
        group = self._group
        group.slots.append(slot)
        for column, code in zip(group.columns, codes, strict=True):
            column.codes.append(code)
        return True

    def _code(self, number: int, key: tuple[str, ...] | str) -> int:
        values = tuple(_value(text) for text in ((key,) if isinstance(key, str) else key))
        test, cuts = test_of(_with_values(self._leaves[number], values))
        column: Column = self._group.columns[number]
        is_same = test == self._group.shape.tests[number] and bool(cuts)
        return column.code(cuts) if is_same else -1


def _literals_of(leaf: Leaf) -> int | None:
    """How many literals the text of a predicate has; None where they are more than values."""
    match leaf:
        case Comparison(_, _, value):
            return 1 if isinstance(value, str) or type(value) in (int, float) else None
        case Between(_, low, _, _):
            return 2 if isinstance(low, str) or type(low) in (int, float) else None
        case In(_, values, _):
            known = isinstance(values[0], str) or type(values[0]) in (int, float)
            return len(values) if known else None
        case IsNull():
            return 0
        case _:
            return None


def _value(literal: str) -> Value:
    """A literal's value, as the parser reads it; the common ones without its help."""
    if literal[0] == "'":
        return literal[1:-1].replace("''", "'")
    if len(literal) <= 18 and literal.isdigit():
        return int(literal)
    return cast("Comparison", parse(f"a = {literal}")).value


def _with_values(leaf: Leaf, values: tuple[Value, ...]) -> Leaf:
    match leaf:
        case Comparison():
            return replace(leaf, value=values[0])
        case Between():
            return replace(leaf, low=values[0], high=values[1])
        case In():
            return replace(leaf, values=values)
        case _:
            return leaf
