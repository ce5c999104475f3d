"""Schemas: which attributes events have, of which kind, with which values.

A schema is optional. With one, the parser refuses unknown attributes and kinds that cannot
match, and the algebra proves more, because it need only think of events that conform.
"""

import math
from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from boolcast.errors import SchemaError
from boolcast.model.arguments import check_argument
from boolcast.model.values import EventValue, Kind, Timestamp, Value, kind_of, written


class Attribute(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The values that an attribute may take.

    `integer` admits whole numbers only. `minimum` and `maximum` are inclusive and exclude
    NaN. `values` lists all values there are. An attribute that is not `required` may be
    missing. Bounds and values of timestamps may be written as ISO 8601 strings.
    """

    kind: Literal["boolean", "number", "string", "timestamp"]
    integer: bool = False
    minimum: Value | None = None
    maximum: Value | None = None
    values: tuple[Value, ...] | None = None
    required: bool = False

    def __post_init__(self) -> None:
        self._read_values()
        if self.integer and self.kind != "number":
            raise ValueError("only numbers can be integers")
        for value in (self.minimum, self.maximum, *(self.values or ())):
            if value is not None and kind_of(value) != self.kind:
                raise ValueError(f"{value!r} is not a {self.kind}")
        if self.values == ():
            raise ValueError("an attribute needs at least one value")
        if self.values is not None:
            if not any(map(self.admits, self.values)):
                raise ValueError("no value of the list lies within the bounds")
        elif not self._has_room():
            raise ValueError("there is no value between the minimum and the maximum")

    def _read_values(self) -> None:
        """Convert bounds and values as filters convert theirs."""

        def read(value: Value) -> Value:
            if self.kind == "timestamp" and isinstance(value, str):
                return Timestamp.parse(value)
            return written(value)

        for name in ("minimum", "maximum"):
            bound = getattr(self, name)
            if bound is not None:
                msgspec.structs.force_setattr(self, name, read(bound))
        if self.values is not None:
            msgspec.structs.force_setattr(self, "values", tuple(map(read, self.values)))

    def _has_room(self) -> bool:
        """False if the bounds leave no value."""
        if self.minimum is None or self.maximum is None:
            return True
        low: Any = math.ceil(self.minimum) if self.integer else self.minimum  # type: ignore[arg-type]
        return bool(low <= self.maximum)

    def admits(self, value: EventValue) -> bool:
        """True if an event that conforms may carry this value here.

        NaN is admitted for numbers without bounds, a list of values or `integer`.
        """
        if kind_of(value) != self.kind:
            unbounded = self.minimum is None and self.maximum is None and self.values is None
            is_nan = kind_of(value) == Kind.OPAQUE and str(value) == "NaN"
            return self.kind == "number" and is_nan and unbounded and not self.integer
        if self.integer and not float(value).is_integer():  # type: ignore[arg-type]
            return False
        if self.minimum is not None and value < self.minimum:  # type: ignore[operator]
            return False
        if self.maximum is not None and value > self.maximum:  # type: ignore[operator]
            return False
        return self.values is None or value in self.values


class Schema(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The attributes of events, common to all and per event type.

    Where `types` names any type, every event has one of them as its attribute `type`, and
    carries that type's attributes beside the common ones; otherwise the common ones are all.
    """

    attributes: dict[str, Attribute] = {}
    types: dict[str, dict[str, Attribute]] = {}

    def __post_init__(self) -> None:
        if self.types and any("type" in names for names in (self.attributes, *self.types.values())):
            raise ValueError("the attribute `type` is already described by `types`")

    @classmethod
    def from_json(cls, text: bytes | str) -> "Schema":
        """Read a schema, e.g. `{"attributes": {"price": {"kind": "number", "minimum": 0}}}`."""
        check_argument(text, str | bytes, "the JSON of a schema is a string or bytes")
        try:
            return msgspec.json.decode(text, type=cls)
        except (msgspec.DecodeError, UnicodeError) as error:
            raise SchemaError(f"the schema cannot be read: {error}") from None

    def attributes_of(self, event_type: str | None) -> dict[str, Attribute]:
        """The attributes of one event type, the common ones included (`type` itself not)."""
        own = {} if event_type is None else self.types.get(event_type, {})
        return self.attributes | own

    def names(self) -> Iterable[str]:
        """Every attribute that some event may carry, in the order of the schema."""
        own_type = {"type": None} if self.types else {}
        everything = (self.attributes, *self.types.values())
        return list(own_type | {name: None for names in everything for name in names})

    def kinds(self, name: str) -> frozenset[Kind]:
        """The kinds that the attribute has in one event type or another."""
        everything = (self.attributes, *self.types.values())
        found = {Kind(names[name].kind) for names in everything if name in names}
        if name == "type" and self.types:
            found.add(Kind.STRING)
        return frozenset(found)

    def timestamps(self, event_type: str | None) -> list[str]:
        """The attributes that are timestamps in events of the type."""
        attributes = self.attributes_of(event_type)
        return [name for name, attribute in attributes.items() if attribute.kind == "timestamp"]


def check_schema(schema: object) -> None:
    """Raise ArgumentError for anything but a schema or None."""
    check_argument(schema, Schema | None, "a schema is a Schema, or None")
