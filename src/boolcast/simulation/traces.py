"""A trace: every step of every broker, in order, as text or as one hash (law 7)."""

from hashlib import blake2b
from typing import Any

import msgspec

from boolcast.model.identifiers import BrokerId
from boolcast.simulation.observation import Observer
from boolcast.simulation.stacks import Job, Step


class Trace(Observer):
    """Takes down what every broker did; `lines` only if they are to be kept."""

    def __init__(self, *, is_kept: bool = False) -> None:
        self.lines: list[str] = []
        self.steps_seen = 0
        self._is_kept = is_kept
        self._hash = blake2b(digest_size=16)

    def steps(self, time: float, broker: BrokerId, job: Job, step: Step) -> None:
        seen = (time, broker, type(job).__name__, job, step.sent, [str(e) for e in step.effects])
        line = _ENCODER.encode(seen)
        self.steps_seen += 1
        self._hash.update(line)
        if self._is_kept:
            self.lines.append(line.decode())

    @property
    def digest(self) -> str:
        """The same for the same trace, and for no other."""
        return self._hash.hexdigest()


def _text_of(value: Any) -> str:
    return str(value)


_ENCODER = msgspec.json.Encoder(enc_hook=_text_of)
