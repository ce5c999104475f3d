"""Advertisements and subscriptions by id, by link and by client (F1).

The same table serves both. The papers call them `SRT`, which routes subscriptions, and `PRT`, which
routes publications.
"""

from collections.abc import Iterator

from boolcast.matching.relations.analysed_filters import AnalysedFilter
from boolcast.model.identifiers import BrokerId, ClientId


class Entry:
    """An advertisement or subscription, and its origin: a link, or a client and its name for it.

    `order` grows with each entry. `is_stale`: it came over a link that was made anew since, and the
    neighbour has not repeated it yet. `sent` is the filter that neighbours get, which may be more
    general than the client's own (R3).
    """

    __slots__ = ("analysed", "client", "id", "is_stale", "link", "name", "order", "sent")

    def __init__(
        self,
        identifier: str,
        analysed: AnalysedFilter,
        order: int,
        *,
        link: BrokerId | None = None,
        client: ClientId | None = None,
        name: str = "",
        sent: AnalysedFilter | None = None,
    ) -> None:
        self.id = identifier
        self.analysed = analysed
        self.sent = sent or analysed
        self.order = order
        self.link = link
        self.client = client
        self.name = name
        self.is_stale = False


class Table:
    """Entries by id, by link, and by client and name; always in order of arrival."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self.by_link: dict[BrokerId, dict[str, Entry]] = {}
        self.by_client: dict[ClientId, dict[str, Entry]] = {}

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, identifier: str) -> bool:
        return identifier in self.entries

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries.values())

    def get(self, identifier: str) -> Entry | None:
        """The entry of that id."""
        return self.entries.get(identifier)

    def of_link(self, link: BrokerId) -> list[Entry]:
        """What came over a link."""
        return list(self.by_link.get(link, {}).values())

    def of_client(self, client: ClientId) -> list[Entry]:
        """What a client asked for."""
        return list(self.by_client.get(client, {}).values())

    def named(self, client: ClientId, name: str) -> Entry | None:
        """What a client calls by that name."""
        return self.by_client.get(client, {}).get(name)

    def add(self, entry: Entry) -> None:
        """Add an entry with a new id."""
        self.entries[entry.id] = entry
        if entry.link is not None:
            self.by_link.setdefault(entry.link, {})[entry.id] = entry
        else:
            assert entry.client is not None
            self.by_client.setdefault(entry.client, {})[entry.name] = entry

    def remove(self, entry: Entry) -> None:
        """Forget an entry."""
        del self.entries[entry.id]
        if entry.link is not None:
            del self.by_link[entry.link][entry.id]
        else:
            assert entry.client is not None
            del self.by_client[entry.client][entry.name]
            if not self.by_client[entry.client]:
                del self.by_client[entry.client]
