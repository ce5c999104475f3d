"""Events: attributes and their values, flat, converted, without the missing ones.

A caller may give an event as a mapping or as a record: a dataclass, a msgspec Struct, a
pydantic model or a named tuple. Nested ones become dotted names: `{"item": {"price": 5}}`
carries the attribute `item.price`. An object is not a value itself, so `item` is missing.
"""

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from boolcast.errors import EventError
from boolcast.model.json_faults import fault
from boolcast.model.values import (
    INTEGER_MAX,
    INTEGER_MIN,
    SIMPLE_TYPES,
    EventValue,
    Timestamp,
    is_well_formed,
    value_from_python,
)

if TYPE_CHECKING:
    from boolcast.model.schemas import Schema

DEPTH_LIMIT: Final = 64
"""How deep an event may nest."""

PREFIX_LIMIT: Final = 1_024
"""How long the dotted name of an object may be: all its members spell it out again."""


class Event(dict[str, EventValue]):
    """An event whose values are already converted; treat it as frozen.

    Make one with `from_python` or `from_json`; the constructor converts nothing.
    """

    __slots__ = ()

    @classmethod
    def from_python(cls, given: object) -> "Event":
        """Convert a mapping or a record of Python values; nested ones flatten.

        Raises EventError for anything else and for malformed members. A value of no known
        kind is not malformed: it becomes opaque.
        """
        if type(given) is cls:
            return given
        if type(given) is dict and all(map(_is_plain, given, given.values())):
            return cls(given)
        members = _members(given)
        if members is None:
            found = "None" if given is None else f"a value of type {type(given).__name__}"
            raise EventError(
                'an event is a mapping such as {"price": 21}, a dataclass, a msgspec Struct, a'
                f" pydantic model or a named tuple, not {found}"
            )
        event = cls()
        for name, value in _flatten(members):
            try:
                converted = value_from_python(value)
            except EventError as error:
                raise EventError(error.problem, attribute=name) from None
            if converted is not None:
                event._put(name, converted)
        return event

    @classmethod
    def from_json(cls, text: bytes | str, schema: "Schema | None" = None) -> "Event":
        """Read one JSON object. Strings become timestamps where `schema` says so."""
        try:
            members = _DECODER.decode(text)
        except RecursionError:
            raise EventError(f"the JSON nests deeper than {DEPTH_LIMIT} levels") from None
        except UnicodeError as error:
            raise EventError(f"the text is not valid UTF-8: {error}") from None
        except msgspec.DecodeError as error:
            raise EventError(f"the JSON cannot be read: {fault(error, text)}") from None
        if not isinstance(members, dict):
            raise EventError('an event is a JSON object such as {"price": 21}')
        event = cls.from_python(members)
        return event if schema is None else with_timestamps(event, schema)

    def _put(self, name: str, value: EventValue) -> None:
        if name in self:
            raise EventError(
                "the attribute is given twice, nested and by its dotted name", attribute=name
            )
        self[name] = value

    @property
    def type(self) -> str | None:
        """The event's type: its attribute `type`, where that is a string."""
        value = self.get("type")
        return value if isinstance(value, str) else None


def _is_plain(name: object, value: object) -> bool:
    """True for a member that needs no conversion; most events consist of these."""
    kind = type(value)
    if kind is str:
        is_plain = value.isascii()  # type: ignore[attr-defined]
    elif kind is int:
        is_plain = INTEGER_MIN <= value <= INTEGER_MAX  # type: ignore[operator]
    else:
        is_plain = kind is bool or (kind is float and not math.isnan(value))  # type: ignore[arg-type]
    return is_plain and type(name) is str and name.isascii()


# Python's own reading of a float, so that 1e400 is infinite instead of an error.
_DECODER: Final = msgspec.json.Decoder(float_hook=float)


def _flatten(members: Iterable[tuple[Any, object]]) -> Iterator[tuple[str, object]]:
    """Every leaf with its dotted name, in order, without recursion."""
    levels: list[tuple[str, Iterator[tuple[Any, object]]]] = [("", iter(members))]
    while levels:
        prefix, remaining = levels[-1]
        for key, value in remaining:
            if not isinstance(key, str):
                found = type(key).__name__
                raise EventError(f"an attribute's name must be a string; given: {found}")
            if not is_well_formed(key):
                raise EventError("an attribute's name holds a lone surrogate", attribute=repr(key))
            name = prefix + key
            nested = _members(value)
            if nested is not None:
                if len(levels) == DEPTH_LIMIT:
                    raise EventError(f"the event nests deeper than {DEPTH_LIMIT} levels")
                if len(name) > PREFIX_LIMIT:
                    raise EventError(f"an object's name is longer than {PREFIX_LIMIT:,} characters")
                levels.append((name + ".", iter(nested)))
                break
            yield name, value
        else:
            levels.pop()


def _members(given: object) -> Iterable[tuple[Any, object]] | None:
    """The names and values of a mapping or a record; None for anything else.

    A record's members go by the names of its Python attributes. One that was never set is
    missing.
    """
    kind = type(given)
    if kind in SIMPLE_TYPES:
        return None
    if isinstance(given, Mapping):
        return given.items()
    if isinstance(given, type):
        return None
    if dataclasses.is_dataclass(given):
        return _attributes(given, (field.name for field in dataclasses.fields(given)))
    if isinstance(given, msgspec.Struct):
        return _attributes(given, given.__struct_fields__)
    if isinstance(given, tuple):
        names = getattr(kind, "_fields", None)
        return None if names is None else _attributes(given, names)
    # Known by its method: pydantic is not a dependency.
    if hasattr(kind, "model_dump"):
        dumped = given.model_dump()  # type: ignore[attr-defined]
        return dumped.items() if isinstance(dumped, Mapping) else None
    return None


def _attributes(record: object, names: Iterable[str]) -> Iterator[tuple[str, object]]:
    return ((name, getattr(record, name, None)) for name in names)


def with_timestamps(event: Event, schema: "Schema") -> Event:
    """The event with its strings read as timestamps where the schema says so.

    A string that does not read as one stays a string: a value of another kind, which
    satisfies no predicate on that attribute, and no reason to refuse the whole event.
    """
    read = Event(event)
    for name in schema.timestamps(event.type):
        value = event.get(name)
        if isinstance(value, str):
            try:
                read[name] = Timestamp.parse(value)
            except ValueError:
                continue
    return read


def conforms(event: Event, schema: "Schema") -> bool:
    """True if the event is one that the schema describes."""
    if schema.types and event.type not in schema.types:
        return False
    attributes = schema.attributes_of(event.type)
    known: Iterable[str] = event.keys() - {"type"} if schema.types else event.keys()
    return all(name in attributes for name in known) and all(
        attribute.admits(event[name]) if name in event else not attribute.required
        for name, attribute in attributes.items()
    )
