"""Wires carry packets from one broker to another, in one direction: slow, narrow, unreliable.

A wire knows only the size of a packet. A *perfect* wire loses nothing, repeats nothing and keeps
the order.
"""

from collections import deque
from random import Random
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from boolcast.simulation.network.timeline import Action, Timeline


class WireSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A wire without faults; `bytes_per_second` 0 means no limit.

    `loss`, `repetition` and `lateness` are the shares of packets that get lost, arrive twice,
    and arrive up to `late_ms` later than they should, overtaken by others.
    """

    latency_ms: float = 10.0
    bytes_per_second: float = 0.0
    loss: float = 0.0
    repetition: float = 0.0
    lateness: float = 0.0
    late_ms: float = 1_000.0

    @property
    def is_perfect(self) -> bool:
        """True if every packet arrives once and in order."""
        return not (self.loss or self.repetition or self.lateness)


class Wire:
    """One direction of a link; `arrive` is called with each packet that comes out."""

    def __init__(
        self, settings: WireSettings, timeline: "Timeline", chance: Random, arrive: "Action"
    ) -> None:
        self.settings = settings
        self.timeline = timeline
        self.arrive = arrive
        self.slowness = 1.0
        self.clogs = 0
        """How many faults hold it up for now."""
        self.packets = 0
        self.bytes = 0
        self._chance = chance
        self._latency = settings.latency_ms / 1_000
        self._free_at = 0.0
        self._last_arrival = 0.0
        self._is_perfect = settings.is_perfect
        self._held: deque[tuple[object, int]] = deque()

    def put(self, packet: object, size: int) -> None:
        """Let a packet go; one that is held up by a clog goes when that is gone."""
        if self.clogs:
            self._held.append((packet, size))
            return
        self.packets += 1
        self.bytes += size
        timeline = self.timeline
        at = timeline.now
        if self.settings.bytes_per_second:
            at = max(at, self._free_at) + size * self.slowness / self.settings.bytes_per_second
            self._free_at = at
        at += self._latency * self.slowness
        if self._is_perfect:
            # A slow link that is healed must not let later packets overtake.
            self._last_arrival = at = max(at, self._last_arrival)
            timeline.at(at, self.arrive, packet)
            return
        self._put_somehow(packet, at)

    def _put_somehow(self, packet: object, at: float) -> None:
        settings, chance = self.settings, self._chance
        copies = 0 if chance.random() < settings.loss else 1
        copies += chance.random() < settings.repetition
        for _ in range(copies):
            late = chance.random() < settings.lateness
            delay = chance.random() * settings.late_ms / 1_000 if late else 0.0
            self.timeline.at(at + delay, self.arrive, packet)

    def clog(self) -> None:
        """Hold up whatever comes."""
        self.clogs += 1

    def unclog(self) -> None:
        """Let go again, at once, unless another fault holds it up too."""
        assert self.clogs
        self.clogs -= 1
        if not self.clogs:
            held, self._held = self._held, deque()
            for packet, size in held:
                self.put(packet, size)
