"""Every exception that Boolcast raises on purpose, split by whose fault it is.

::

    BoolcastError
    ├── InputError                  what came from outside is wrong
    │   ├── FilterError             a filter's text or JSON form
    │   │   ├── FilterSyntaxError   cannot be read; knows the place, what was found and expected
    │   │   ├── FilterLimitError    past one of the limits against hostile filters
    │   │   └── FilterSchemaError   does not fit the schema; knows the place and a suggestion
    │   ├── EventError              an event that is malformed
    │   ├── SchemaError             a schema that is malformed
    │   ├── SubscriptionIdError     an id that no subscription can go by
    │   ├── UnknownSubscriptionError   no subscription goes by this id
    │   ├── RoutingError            a client or neighbour asked a broker for what cannot be
    │   │   ├── UnknownAdvertisementError   no advertisement of the client goes by this name
    │   │   ├── EmptyAdvertisementError   an advertisement that no event can satisfy
    │   │   ├── DuplicateNameError  the client uses the name for another filter already
    │   │   ├── UnadvertisedError   an event that no advertisement of its publisher accepts
    │   │   └── ProtocolError       a neighbour broke the protocol between brokers
    │   ├── ConfigurationError      policies of a broker that exclude each other; knows the rule
    │   ├── TopologyError           brokers and links that make no network
    │   ├── StatisticsError         statistics that contradict themselves
    │   ├── PruningTargetError      a size that no pruning can reach; knows a bound of what can be
    │   │   └── ReplacementTargetError   the same of distinct predicates and replacement
    │   ├── LimitError              a limit of pruning or merging that is out of its range
    │   ├── StoreError              an index in a store that is damaged, or not there
    │   ├── StreamError             a stream whose parts do not belong together, or are out of reach
    │   └── FileError               a file of filters, subscriptions or events that cannot be read
    ├── JavaError                   no Java that Spark could run on
    ├── OutputError                 a place for results that cannot be written
    ├── WorkerError                 a process that was started for a part of the work has died
    └── UsageError                  an operation called on what it is not defined for
        ├── ArgumentError           an argument of the wrong type; also a TypeError
        └── FilterTruthError        `and`, `or`, `not` or `if` used on a filter; also a TypeError

Our own bugs are `AssertionError`s, never one of these. Code that builds a filter or a schema
itself is not outside either: the constructors in `filters.expressions` and `model.schemas` raise
`ValueError`, as Python's own do.
"""

import unicodedata


class BoolcastError(Exception):
    """The root: catch this to catch everything that Boolcast raises on purpose."""

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross process boundaries; the default reduction loses keyword-only arguments.
        return _rebuild, (type(self), self.args, dict(self.__dict__))


class InputError(BoolcastError):
    """Something that came from outside is wrong; the text says what, where and what to do."""


class FilterError(InputError):
    """A filter that cannot be accepted.

    `problem` is the sentence, `text` the filter's text where there is one, `position` the
    offset of the offending character in it, `hint` what to do about it.
    """

    def __init__(
        self,
        problem: str,
        *,
        text: str | None = None,
        position: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(problem, text, position, hint)
        self.problem = problem
        self.text = text
        self.position = position
        self.hint = hint

    @property
    def line(self) -> int | None:
        """The line of the place, counted from 1."""
        if self.text is None or self.position is None:
            return None
        return self.text.count("\n", 0, self.position) + 1

    @property
    def column(self) -> int | None:
        """The column of the place in its line, in characters, counted from 1."""
        if self.text is None or self.position is None:
            return None
        return self.position - self.text.rfind("\n", 0, self.position)

    def __str__(self) -> str:
        parts = [self.problem]
        if self.text is not None and self.position is not None:
            parts[0] += f" (line {self.line}, column {self.column})"
            parts.append(_excerpt(self.text, self.position))
        if self.hint is not None:
            parts.append(f"hint: {self.hint}")
        return "\n".join(parts)


class FilterSyntaxError(FilterError):
    """A filter's text or JSON form that cannot be read.

    `found` is what stands at the place, `expected` what could have stood there. All three are
    known of a text, none of them of a JSON form.
    """

    def __init__(
        self,
        problem: str,
        *,
        text: str | None = None,
        position: int | None = None,
        hint: str | None = None,
        found: str | None = None,
        expected: str | None = None,
    ) -> None:
        super().__init__(problem, text=text, position=position, hint=hint)
        self.found = found
        self.expected = expected


class FilterLimitError(FilterError):
    """A filter past one of the limits; `limit` names it and `allowed` is its value."""

    def __init__(
        self,
        problem: str,
        *,
        limit: str,
        allowed: int,
        text: str | None = None,
        position: int | None = None,
        hint: str | None = None,
    ) -> None:
        if hint is None:
            hint = f"Limits.{limit} is {allowed:,}; it can be raised where the filter is parsed"
        super().__init__(problem, text=text, position=position, hint=hint)
        self.limit = limit
        self.allowed = allowed


class FilterSchemaError(FilterError):
    """A filter that names an attribute its schema lacks, or compares it with another kind."""


class EventError(InputError):
    """An event that is malformed; `attribute` is the place in it, where one is known."""

    def __init__(self, problem: str, *, attribute: str | None = None) -> None:
        super().__init__(problem, attribute)
        self.problem = problem
        self.attribute = attribute

    def __str__(self) -> str:
        return self.problem if self.attribute is None else f"{self.problem} (at {self.attribute})"


class SchemaError(InputError):
    """A schema that is malformed or contradicts itself."""


class SubscriptionIdError(InputError):
    """An id that no subscription can go by; `subscription` is the id."""

    def __init__(self, subscription: str) -> None:
        super().__init__(subscription)
        self.subscription = subscription

    def __str__(self) -> str:
        return (
            f"the id {self.subscription!r} holds a lone surrogate, which is no character: "
            "nothing could store or send it"
        )


class UnknownSubscriptionError(InputError):
    """No subscription goes by the id; `subscription` is the id."""

    def __init__(self, subscription: str) -> None:
        super().__init__(subscription)
        self.subscription = subscription

    def __str__(self) -> str:
        return f"there is no subscription {self.subscription!r}"


class RoutingError(InputError):
    """A client or a neighbour asked a broker for what cannot be; the broker goes on without it.

    Equal if kind and text are, since such errors are told to others rather than raised.
    """

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.args == other.args

    def __hash__(self) -> int:
        return hash((type(self), self.args))


class UnknownAdvertisementError(RoutingError):
    """No advertisement of the client goes by the name; `advertisement` is the name."""

    def __init__(self, advertisement: str) -> None:
        super().__init__(advertisement)
        self.advertisement = advertisement

    def __str__(self) -> str:
        return f"there is no advertisement {self.advertisement!r}"


class EmptyAdvertisementError(RoutingError):
    """No event can satisfy the advertisement, which is not taken up; `filter` is its text."""

    def __init__(self, advertisement: str, filter: str) -> None:
        super().__init__(advertisement, filter)
        self.advertisement = advertisement
        self.filter = filter

    def __str__(self) -> str:
        return (
            f"no event can satisfy the advertisement {self.advertisement!r}, so nothing could be"
            f" published under it: {self.filter}. `boolcast check` shows what contradicts what"
        )


class DuplicateNameError(RoutingError):
    """The client has given the name to another filter; it must withdraw that one first."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"the name {self.name!r} is in use with another filter; withdraw that one first"


class UnadvertisedError(RoutingError):
    """An event that no advertisement of its publisher accepts; `publication` is its id."""

    def __init__(self, publication: str) -> None:
        super().__init__(publication)
        self.publication = publication

    def __str__(self) -> str:
        return (
            f"the event {self.publication!r} was not advertised: advertise a filter that accepts"
            " it before publishing it"
        )


class ProtocolError(RoutingError):
    """A neighbour broke the protocol between brokers; the text says how."""


class ConfigurationError(InputError):
    """Policies that exclude each other; `rule` is the id of the rule that forbids it."""

    def __init__(self, problem: str, *, rule: str) -> None:
        super().__init__(problem, rule)
        self.problem = problem
        self.rule = rule

    def __str__(self) -> str:
        return f"{self.problem} (rule {self.rule})"


class TopologyError(InputError):
    """Brokers and links that make no network; the text says which."""


class StatisticsError(InputError):
    """Statistics of events that contradict themselves, or hold what is no predicate."""


class PruningTargetError(InputError):
    """A number of predicates that no pruning can reach: at least `floor` remain, perhaps more."""

    def __init__(self, target: int, floor: int) -> None:
        super().__init__(target, floor)
        self.target = target
        self.floor = floor

    def __str__(self) -> str:
        return (
            f"no pruning leaves {self.target:,} predicates or fewer: at least {self.floor:,}"
            " remain, since every alternative keeps one, and it may be more. Raise the target, or"
            " merge entries first"
        )


class ReplacementTargetError(PruningTargetError):
    """The same of distinct predicates, where they are replaced by others that cover them."""

    def __str__(self) -> str:
        return (
            f"no replacement leaves {self.target:,} distinct predicates or fewer: at least"
            f" {self.floor:,} remain, which no other covers. Raise the target, or prune instead"
        )


class LimitError(InputError, ValueError):
    """A target, a budget or a bound of rewriting that is no number of its kind."""


class StoreError(InputError):
    """An index in a store that is damaged, incomplete, of another format, or not there."""


class StreamError(InputError):
    """A stream whose parts do not belong together, or whose events cannot be reached."""


class FileError(InputError):
    """A file that cannot be read, or a line of it; `line` counts from 1."""

    def __init__(self, problem: str, *, path: str, line: int | None = None) -> None:
        super().__init__(problem, path, line)
        self.problem = problem
        self.path = path
        self.line = line

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {self.problem}"


class JavaError(BoolcastError):
    """The machine has no Java that Spark could run on; the text says what to install."""


class OutputError(BoolcastError):
    """Results cannot be written, or read back: no space, no permission, no connection."""


class WorkerError(BoolcastError):
    """A process that was started for a part of the work has ended without doing it."""


class UsageError(BoolcastError):
    """An operation was called on something that it is not defined for."""


class ArgumentError(UsageError, TypeError):
    """An argument of the wrong type: `expected` says what fits, `given` is its type's name."""

    def __init__(self, expected: str, given: object) -> None:
        name = type(given).__name__
        super().__init__(expected, name)
        self.expected = expected
        self.given = name

    def __str__(self) -> str:
        return f"{self.expected}; given: {self.given}"


class FilterTruthError(UsageError, TypeError):
    """A filter was used as a truth value, as in `f and g`, `not f` or `if f`."""

    def __str__(self) -> str:
        return (
            "a filter is neither true nor false by itself: combine filters with &, | and ~, and"
            " ask filter.accepts(event) about an event"
        )


def _rebuild(
    kind: type[BoolcastError], arguments: tuple[object, ...], state: dict[str, object]
) -> BoolcastError:
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(state)
    return error


_EXCERPT_RADIUS = 60


def _excerpt(text: str, position: int) -> str:
    """The line around `position`, shortened on both sides, with a caret below the place.

    The caret is right where characters take the columns that Unicode says they take.
    """
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    end = len(text) if end < 0 else end
    left = max(start, position - _EXCERPT_RADIUS)
    right = min(end, position + _EXCERPT_RADIUS)
    before = _printable(text[left:position])
    after = _printable(text[position:right])
    lead = "…" if left > start else ""
    tail = "…" if right < end else ""
    return f"  {lead}{before}{after}{tail}\n  {' ' * sum(map(_columns, lead + before))}^"


def _columns(character: str) -> int:
    """How many columns of a terminal the character takes."""
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def _printable(text: str) -> str:
    """The text without what would move the cursor: spaces as one, controls as a mark."""
    return "".join(
        c if c.isprintable() else " " if c.isspace() else "\N{REPLACEMENT CHARACTER}" for c in text
    )
