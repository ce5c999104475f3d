"""For the time being."""

from functools import lru_cache

import pyarrow as pa

from boolcast.errors import EventError
from boolcast.matching.access import Matcher
from boolcast.model.events import Event


@lru_cache(maxsize=2)
def opened(folder, version):
    return Matcher.load(folder, version=version)


def found(delivery, version, batch):
    matcher = opened(str(delivery.store), version)
    ids = batch.column(batch.schema.get_field_index(delivery.event_id))
    good, bad = [], []
    texts = None
    if delivery.json is not None:
        texts = batch.column(batch.schema.get_field_index(delivery.json)).to_pylist()
    for row in range(batch.num_rows):
        try:
            if not ids[row].is_valid:
                raise EventError("the event has no id")
            if texts is not None:
                if texts[row] is None:
                    raise EventError("the event is null")
                Event.from_json(texts[row])
            good.append(row)
        except EventError as error:
            text = None if texts is None else texts[row]
            bad.append({delivery.event_id: ids[row].as_py(), "event": text, "error": str(error)})
    kept = pa.array(good, pa.int64())
    if texts is None:
        events = batch.take(kept)
    else:
        events = "\n".join(texts[row].replace("\n", " ") for row in good).encode()
    dead = pa.RecordBatch.from_pylist(
        bad,
        pa.schema([(delivery.event_id, ids.type), ("event", pa.string()), ("error", pa.string())]),
    )
    for matches in matcher.match_batch(events):
        names = ids.take(kept.take(matches.column("event")))
        yield (
            pa.record_batch(
                [names, matches.column("subscription")], [delivery.event_id, "subscription"]
            ),
            dead.slice(0, 0),
        )
    yield (
        pa.RecordBatch.from_pylist(
            [], schema=pa.schema([(delivery.event_id, ids.type), ("subscription", pa.string())])
        ),
        dead,
    )
