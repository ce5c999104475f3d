"""An operation that travels through the network until every broker concerned has done it."""

from boolcast.model.identifiers import BrokerId, ClientId


class Operation:
    """An advertisement or a removal under way: who must still acknowledge it, and who waits.

    A neighbour waits with the number that it gave, a client with the name of its subscription.
    `advertisement` is the id of the advertisement that `awaited` answers, if there is just one.
    """

    def __init__(self, key: int, deadline: float) -> None:
        self.key = key
        self.deadline = deadline
        self.awaited: dict[tuple[BrokerId, int], None] = {}
        self.waiting: list[tuple[BrokerId, int]] = []
        self.client: ClientId | None = None
        self.name = ""
        self.advertisement = ""
