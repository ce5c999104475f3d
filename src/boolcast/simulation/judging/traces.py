"""A trace: every step of every broker, in order, as one hash (law 7)."""

from hashlib import blake2b
from typing import Any

import msgspec

from boolcast.model.identifiers import BrokerId
from boolcast.routing.protocol.stimuli import Received
from boolcast.simulation.network.broker_process import Job, Step
from boolcast.simulation.network.observation import Observer


class Trace(Observer):
    """Takes down what every broker did."""

    def __init__(self) -> None:
        self._hash = blake2b(digest_size=16)

    def steps(self, time: float, broker: BrokerId, job: Job, step: Step) -> None:
        # Most of what is sent is what came in, which need not be written out again for each link.
        came = job.message if type(job) is Received else None
        sent = [each.link if each.message is came else each for each in step.sent]
        effects = [(type(each).__name__, each) for each in step.effects]
        seen = (time, broker, type(job).__name__, job, sent, effects)
        self._hash.update(_ENCODER.encode(seen))

    @property
    def digest(self) -> str:
        """The same for the same trace, and for no other."""
        return self._hash.hexdigest()


def _text_of(value: Any) -> str:
    return str(value)


_ENCODER = msgspec.json.Encoder(enc_hook=_text_of)
