"""Which neighbours must know a subscription at all.

*Flooding* sends subscriptions to every neighbour, and advertisements to none: they only say what
their publisher may publish. *Towards advertisements*, the other way round: advertisements go
everywhere, and a subscription goes to the neighbours from which one came that it overlaps with.
In both, an event goes only where a subscription came from.
"""

from collections.abc import Iterable
from typing import Protocol

from boolcast.routing.forms import Form, Forms
from boolcast.routing.tables import Entry


class PropagationPolicy(Protocol):
    """Decides who must know what; P3-B4's test by indexes fits in here too."""

    sends_advertisements: bool

    def is_needed(self, subscription: Form, advertisements: Iterable[Entry]) -> bool:
        """True if a neighbour with these advertisements must know the subscription."""

    def awakened(self, advertisement: Form, subscriptions: Iterable[Entry]) -> list[Entry]:
        """Those of the subscriptions that an advertisement concerns, in their order."""


class Flooding:
    """Every neighbour must know every subscription that can ever be fulfilled."""

    sends_advertisements = False

    def __init__(self, forms: Forms) -> None:
        pass

    def is_needed(self, subscription: Form, advertisements: Iterable[Entry]) -> bool:  # noqa: ARG002
        return not subscription.is_never

    def awakened(self, advertisement: Form, subscriptions: Iterable[Entry]) -> list[Entry]:  # noqa: ARG002
        return []


class TowardsAdvertisements:
    """A neighbour must know the subscriptions that overlap with an advertisement from it."""

    sends_advertisements = True

    def __init__(self, forms: Forms) -> None:
        self._forms = forms

    def is_needed(self, subscription: Form, advertisements: Iterable[Entry]) -> bool:
        overlaps = self._forms.overlaps
        return any(overlaps(each.form, subscription) for each in advertisements)

    def awakened(self, advertisement: Form, subscriptions: Iterable[Entry]) -> list[Entry]:
        overlaps = self._forms.overlaps
        return [each for each in subscriptions if overlaps(advertisement, each.form)]
