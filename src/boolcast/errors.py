"""Every exception that Boolcast raises on purpose, split by whose fault it is.

::

    BoolcastError
    ├── InputError                  input from outside is wrong
    │   ├── FilterError             a filter's text or JSON
    │   │   ├── FilterSyntaxError   cannot be read; knows position, what was found and expected
    │   │   ├── FilterLimitError    exceeds one of the limits against hostile filters
    │   │   └── FilterSchemaError   does not fit the schema; knows position and a suggestion
    │   ├── EventError              a malformed event, or an object that cannot be an event
    │   ├── SchemaError             a malformed schema
    │   ├── SubscriptionIdError     not a valid subscription id
    │   ├── UnknownSubscriptionError   no subscription has this id
    │   ├── RoutingError            a client or neighbour asked a broker for something impossible
    │   │   ├── UnknownAdvertisementError   the client has no advertisement of this name
    │   │   ├── EmptyAdvertisementError   no event can satisfy the advertisement
    │   │   ├── DuplicateNameError  the client already uses the name for another filter
    │   │   ├── UnadvertisedError   no advertisement of the publisher accepts the event
    │   │   └── ProtocolError       a neighbour broke the protocol between brokers
    │   ├── ConfigurationError      broker settings that cannot be; may know the rule
    │   ├── TopologyError           brokers and links that do not form a network
    │   ├── StatisticsError         statistics that contradict themselves
    │   ├── PruningTargetError      pruning cannot reach the target; knows a lower bound
    │   │   └── ReplacementTargetError   the same for distinct predicates and replacement
    │   ├── LimitError              a limit of pruning or merging is out of range
    │   ├── StoreError              a stored index is damaged or missing
    │   ├── StreamError             parts of a stream do not belong together or cannot be reached
    │   └── FileError               a file of filters, subscriptions or events cannot be read
    ├── JavaError                   no Java that Spark can run on
    ├── OutputError                 results cannot be written
    ├── WorkerError                 a worker process died
    └── UsageError                  an operation is not defined for what it was called on
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
    """Input from outside is wrong; the text says what, where and what to do."""


class FilterError(InputError):
    """A filter that cannot be accepted.

    `problem` is the sentence, `text` the filter's text if known, `position` the offset of the
    offending character in it, `hint` what to do about it.
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
        """The line of the position, counted from 1."""
        if self.text is None or self.position is None:
            return None
        return self.text.count("\n", 0, self.position) + 1

    @property
    def column(self) -> int | None:
        """The column of the position, in characters, counted from 1."""
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
    """A filter's text or JSON that cannot be read.

    `found` is what stands at the position, `expected` what could stand there. For JSON all
    three are None.
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
    """A filter exceeds a limit; `limit` names it and `allowed` is its value."""

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
            hint = f"Limits.{limit} is {allowed:,}; raise it where the filter is parsed"
        super().__init__(problem, text=text, position=position, hint=hint)
        self.limit = limit
        self.allowed = allowed


class FilterSchemaError(FilterError):
    """A filter that names an attribute its schema lacks, or compares it with another kind."""


class EventError(InputError):
    """A malformed event; `attribute` says which of its attributes is at fault, if known."""

    def __init__(self, problem: str, *, attribute: str | None = None) -> None:
        super().__init__(problem, attribute)
        self.problem = problem
        self.attribute = attribute

    def __str__(self) -> str:
        return self.problem if self.attribute is None else f"{self.problem} (at {self.attribute})"


class SchemaError(InputError):
    """A schema that is malformed or contradicts itself."""


class SubscriptionIdError(InputError):
    """Not a valid subscription id; `subscription` is the id."""

    def __init__(self, subscription: str) -> None:
        super().__init__(subscription)
        self.subscription = subscription

    def __str__(self) -> str:
        return (
            f"the id {self.subscription!r} holds a lone surrogate, which is no character: "
            "nothing could store or send it"
        )


class UnknownSubscriptionError(InputError, KeyError):
    """No subscription has the id; `subscription` is the id. A KeyError too, for `matcher[id]`."""

    def __init__(self, subscription: str) -> None:
        super().__init__(subscription)
        self.subscription = subscription

    def __str__(self) -> str:
        return f"there is no subscription {self.subscription!r}"


class RoutingError(InputError):
    """A client or a neighbour asked a broker for something impossible; the broker goes on.

    Equal if kind and text are: such errors are sent to their cause rather than raised.
    """

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.args == other.args

    def __hash__(self) -> int:
        return hash((type(self), self.args))


class UnknownAdvertisementError(RoutingError):
    """The client has no advertisement of this name; `advertisement` is the name."""

    def __init__(self, advertisement: str) -> None:
        super().__init__(advertisement)
        self.advertisement = advertisement

    def __str__(self) -> str:
        return f"there is no advertisement {self.advertisement!r}"


class EmptyAdvertisementError(RoutingError):
    """No event can satisfy the advertisement, so it is refused; `filter` is its text."""

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
    """A setting that no broker can have, or settings that exclude each other.

    `rule` is the id of the rule that forbids it, if one of the papers does.
    """

    def __init__(self, problem: str, *, rule: str = "") -> None:
        super().__init__(problem, rule)
        self.problem = problem
        self.rule = rule

    def __str__(self) -> str:
        return f"{self.problem} (rule {self.rule})" if self.rule else self.problem


class TopologyError(InputError):
    """Brokers and links that do not form a network; the text says which."""


class StatisticsError(InputError):
    """Statistics that contradict themselves, or that count something other than predicates."""


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
    """The same for distinct predicates, when others that cover them replace them."""

    def __str__(self) -> str:
        return (
            f"no replacement leaves {self.target:,} distinct predicates or fewer: at least"
            f" {self.floor:,} remain, which no other covers. Raise the target, or prune instead"
        )


class LimitError(InputError, ValueError):
    """A target, budget or bound of rewriting that is out of range."""


class StoreError(InputError):
    """A stored index is damaged, incomplete, of another format, or missing."""


class StreamError(InputError):
    """A stream whose parts do not belong together, or whose events cannot be reached."""


class FileError(InputError):
    """A file, or a line of it, cannot be read; `line` counts from 1."""

    def __init__(self, problem: str, *, path: str, line: int | None = None) -> None:
        super().__init__(problem, path, line)
        self.problem = problem
        self.path = path
        self.line = line

    def __str__(self) -> str:
        location = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{location}: {self.problem}"


class JavaError(BoolcastError):
    """The machine has no Java that Spark can run on; the text says what to install."""


class OutputError(BoolcastError):
    """Results cannot be written, or read back: no space, no permission, no connection."""


class WorkerError(BoolcastError):
    """A worker process ended without doing its share of the work."""


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
    """The line around `position`, shortened on both sides, with a caret below it.

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
