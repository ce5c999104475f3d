"""The work of `boolcast match`, in batches; apart from the command because numpy takes time."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import msgspec
import pyarrow as pa

from boolcast.cli.input.sources import Line, Source, checked_line
from boolcast.cli.input.subscriptions import UnreadSubscription, conflict, read_subscription
from boolcast.cli.output.progress import working
from boolcast.cli.output.writing import counted, json_line, write
from boolcast.errors import EventError, FilterError, InputError
from boolcast.filters.expressions import Filter
from boolcast.matching.matcher import Matcher
from boolcast.matching.stats import UnseenAttribute
from boolcast.model.events import Event
from boolcast.model.identifiers import SubscriptionId
from boolcast.model.schemas import Schema
from boolcast.model.values import EventValue, Opaque

_LESSON_EVENTS: Final = 2_000
"""After this many events the index is built anew, by what the matcher has learned."""

_FEW_EVENTS: Final = 8
"""Up to this many events one by one are faster than a batch."""

Report = Callable[[str, int, InputError], None]
"""Takes the name of the file, the number of the line, and what is wrong with it."""


class MatchSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What was read and found; `bad_lines` were left out."""

    subscriptions: int
    events: int
    matches: int
    bad_lines: int
    seconds: float
    unseen_attributes: tuple[UnseenAttribute, ...]

    def __str__(self) -> str:
        text = (
            f"{counted(self.events, 'event')}, {counted(self.subscriptions, 'subscription')}, "
            f"{counted(self.matches, 'match', 'matches')} in {self.seconds:.1f} s"
        )
        return f"{text}; {counted(self.bad_lines, 'bad line')} left out" if self.bad_lines else text


class _NamedEvent(NamedTuple):
    line: Line
    name: EventValue
    event: Event


class FileMatcher:
    """Matches the events of a file with the subscriptions of another."""

    def __init__(self, schema: Schema | None, event_id: str | None) -> None:
        self._events = self._matches = 0
        self._schema = schema
        self._event_id = event_id
        self._matcher = Matcher()
        self._has_settled = False
        self._line_of: dict[str, int] = {}

    def summary(self, bad_lines: int, seconds: float) -> MatchSummary:
        """What was read and found so far."""
        unseen = self._matcher.stats(expensive=0).unseen_attributes if self._events else ()
        return MatchSummary(
            subscriptions=len(self._line_of),
            events=self._events,
            matches=self._matches,
            bad_lines=bad_lines,
            seconds=seconds,
            unseen_attributes=unseen,
        )

    def load(self, source: Source, report: Report) -> None:
        """Add all subscriptions; bad lines are reported in their order."""
        problems: dict[int, InputError] = {}
        first: dict[SubscriptionId, UnreadSubscription] = {}
        repeated: list[UnreadSubscription] = []
        for _, each in source.records(
            read_subscription, lambda name, line, error: problems.update({line: error})
        ):
            if first.setdefault(each.subscription, each) is not each:
                repeated.append(each)
        with working(f"loading {len(first):,} subscriptions", enough=len(first) > 10_000):
            self._add(list(first.values()), problems)
            for each in repeated:
                self._add_again(each, first, problems)
        for line in sorted(problems):
            report(source.name, line, problems[line])

    def _add(
        self, subscriptions: Sequence[UnreadSubscription], problems: dict[int, InputError]
    ) -> None:
        """Load texts in bulk. Where a schema or JSON asks for a tree, load what it prints."""
        read: dict[int, Filter] = {}
        names: list[str] = []
        texts: list[str] = []
        rows: list[UnreadSubscription] = []
        for each in subscriptions:
            text = each.text
            if text is None or self._schema is not None:
                try:
                    filter = each.filter(self._schema)
                except FilterError as error:
                    problems[each.line] = error
                    continue
                read[each.line], text = filter, str(filter)
            names.append(each.subscription)
            texts.append(text)
            rows.append(each)
        rejects = self._matcher.add_many(pa.table({"subscription": names, "filter": texts}))
        self._line_of = {each.subscription: each.line for each in rows}
        for row in rejects["row"].to_pylist():
            each = rows[row]
            try:
                tree = read.get(each.line)
                self._matcher.add(each.subscription, each.filter(None) if tree is None else tree)
            except FilterError as error:
                problems[each.line] = error
                del self._line_of[each.subscription]

    def _add_again(
        self,
        each: UnreadSubscription,
        first: dict[SubscriptionId, UnreadSubscription],
        problems: dict[int, InputError],
    ) -> None:
        """Take a line whose id stands in an earlier one: that counts, unless it is bad."""
        try:
            filter = each.filter(self._schema)
        except FilterError as error:
            problems[each.line] = error
            return
        kept = self._line_of.get(each.subscription)
        if kept is None:
            self._matcher.add(each.subscription, filter)
            self._line_of[each.subscription] = each.line
            first[each.subscription] = each
        elif first[each.subscription].filter(self._schema) != filter:
            problems[each.line] = conflict(each.subscription, kept)

    def match(self, source: Source, report: Report, *, strict: bool) -> None:
        """Write the matches of all events; bad lines are reported where they stand among them."""
        tails = {
            line: b',"subscription":' + json_line(name)[:-1] + b"}\n"
            for name, line in self._line_of.items()
        }
        for lines in source.batches():
            problems: dict[int, InputError] = {}
            events: list[_NamedEvent] = []
            for number, data in lines:
                try:
                    if (line := checked_line(number, data)) is not None:
                        events.append(self._read(line))
                except InputError as error:
                    problems[number] = error
                    if strict:
                        break
            self._events += len(events)
            written: list[bytes] = []
            due = sorted(problems, reverse=True)
            for event, subscription_lines in zip(events, self._find(events), strict=True):
                while due and due[-1] < event.line.number:
                    write(b"".join(written), end=False)
                    written.clear()
                    report(source.name, due[-1], problems[due.pop()])
                if subscription_lines:
                    head = b'{"event":' + json_line(event.name)[:-1]
                    written += [head + tails[each] for each in sorted(subscription_lines)]
            if written:
                write(b"".join(written), end=False)
            while due:
                report(source.name, due[-1], problems[due.pop()])
            self._settle()

    def _read(self, line: Line) -> _NamedEvent:
        event = Event.from_json(line.data, self._schema)
        name = line.number if self._event_id is None else _name_of(event, self._event_id)
        return _NamedEvent(line, name, event)

    def _find(self, events: Sequence[_NamedEvent]) -> list[list[int]]:
        """For each event, the lines of the subscriptions that accept it."""
        line_of = self._line_of
        if self._schema is not None or len(events) <= _FEW_EVENTS:
            found = [[line_of[name] for name in self._matcher.match(each.event)] for each in events]
        else:
            found = [[] for _ in events]
            for batch in self._matcher.match_batch(b"\n".join(each.line.data for each in events)):
                names = batch["subscription"].to_pylist()
                for number, name in zip(batch["event"].to_pylist(), names, strict=True):
                    found[number].append(line_of[name])
        self._matches += sum(map(len, found))
        return found

    def _settle(self) -> None:
        if not self._has_settled and self._events >= _LESSON_EVENTS:
            self._has_settled = True
            self._matcher.merge()


def _name_of(event: Event, attribute: str) -> EventValue:
    value = event.get(attribute)
    if value is None:
        raise EventError("the event lacks the attribute that names it", attribute=attribute)
    if isinstance(value, Opaque):
        raise EventError(f"`{attribute}` is a {value} and cannot be an event id")
    return value
