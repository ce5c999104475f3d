"""NumPy: each event against whole columns of constants."""

import numpy as np
import pyarrow as pa

from boolcast.lab.benchmarks.match.alternatives.protocol import ASKED, MATCHES


class NumPy:
    """Titles as integer codes, known from a dict; no index, so an event costs four passes."""

    what = "a mask over columns of constants for each event"
    most_subscriptions = 10**9
    most_events = 500

    def load(self, subscriptions: pa.Table) -> None:
        titles = subscriptions["title"].combine_chunks().dictionary_encode()
        self._codes = {title: code for code, title in enumerate(titles.dictionary.to_pylist())}
        self._titles = titles.indices.to_numpy()
        self._ending = subscriptions["ending"].to_numpy()
        self._bounds = {name: subscriptions[name].to_numpy() for name in ("new", "used")}
        self._ids = subscriptions["subscription"].combine_chunks()

    def match(self, events: pa.Table) -> pa.Table:
        found: list[np.ndarray] = []
        counts: list[int] = []
        for event in events.select(ASKED).to_pylist():
            mask = self._titles == self._codes.get(event["title"], -1)
            mask &= self._ending > event["ending"]
            mask &= self._bounds[event["condition"]] > event["price"]
            found.append(np.flatnonzero(mask))
            counts.append(len(found[-1]))
        rows = np.repeat(np.arange(len(counts)), counts)
        return pa.table([rows, self._ids.take(pa.array(np.concatenate(found)))], schema=MATCHES)
