"""Any sequence of operations on an engine, beside a dict of filters."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    precondition,
    rule,
)
from hypothesis.strategies import SearchStrategy, sampled_from

from boolcast.errors import UnknownSubscriptionError
from boolcast.filters.expressions import Filter
from boolcast.matching import matcher as matcher_module
from boolcast.matching.inputs.protocol import Engine
from tests.matching.conformance import (
    JSON_EVENTS,
    Matches,
    accepting,
    accepting_each,
    json_lines,
    numbered_lines,
    numbered_rows,
    read,
    tables,
)
from tests.matching.faults import MemoryStore
from tests.strategies import events, filters, predicates


class EngineMachine(RuleBasedStateMachine):
    """An engine beside a dict of filters; few attributes and values, so that filters interact.

    `add_many`, `merge`, `save` and `load` are called where the engine has them.
    """

    make: Callable[[], Any]
    states = 0
    """How many were reached, one for each step and one at each start, by all machines of a kind."""

    readers = Bundle("readers")
    saved = Bundle("saved")

    def __init__(self) -> None:
        super().__init__()
        self.engine = self.make()
        self.model: dict[str, Filter] = {}
        self.store = MemoryStore()
        self.patches = ExitStack()

    @initialize(limit=sampled_from([1, 2, 5, matcher_module.PENDING_LIMIT]))
    def let_wait(self, limit: int) -> None:
        """With few additions waiting, there are many segments and merges of them."""
        self.patches.enter_context(patch.object(matcher_module, "PENDING_LIMIT", limit))

    def teardown(self) -> None:
        self.patches.close()

    ids: Final = sampled_from([*"hijklmnopqrstuvw", "", "ü '\0"])
    trees: Final[SearchStrategy[Filter]] = st.one_of(
        filters(max_leaves=5, small=True), predicates(small=True), filters(max_leaves=3)
    )

    @rule(name=ids, filter=trees)
    def add(self, name: str, filter: Filter) -> None:
        self.engine.add(name, filter)
        self.model[name] = filter

    @rule(name=ids, filter=filters(max_leaves=5, small=True))
    def add_text(self, name: str, filter: Filter) -> None:
        self.engine.add(name, str(filter))
        self.model[name] = filter

    @precondition(lambda self: self.model)
    @rule(data=st.data(), filter=trees)
    def replace(self, data: st.DataObject, filter: Filter) -> None:
        self.add(data.draw(sampled_from(sorted(self.model))), filter)

    @precondition(lambda self: self.model)
    @rule(data=st.data(), name=ids)
    def add_an_equal_filter(self, data: st.DataObject, name: str) -> None:
        self.add(name, self.model[data.draw(sampled_from(sorted(self.model)))])

    @precondition(lambda self: hasattr(self.engine, "add_many"))
    @rule(rows=st.lists(st.tuples(ids, trees), max_size=8))
    def add_many(self, rows: list[tuple[str, Filter]]) -> None:
        columns = {
            "subscription": pa.array([name for name, _ in rows], pa.string()),
            "filter": pa.array([str(filter) for _, filter in rows], pa.string()),
        }
        assert self.engine.add_many(pa.table(columns)).num_rows == 0
        self.model |= dict(rows)

    @rule(name=ids)
    def remove(self, name: str) -> None:
        if name in self.model:
            self.engine.remove(name)
            del self.model[name]
        else:
            with pytest.raises(UnknownSubscriptionError):
                self.engine.remove(name)

    @precondition(lambda self: hasattr(self.engine, "merge"))
    @rule()
    def merge(self) -> None:
        self.engine.merge()

    @precondition(lambda self: hasattr(self.engine, "save"))
    @rule()
    def save_and_load(self) -> None:
        with TemporaryDirectory() as folder:
            self.engine.save(Path(folder) / "index")
            self.engine = type(self.engine).load(Path(folder) / "index")
            assert len(self.engine) == len(self.model)

    @precondition(lambda self: hasattr(self.engine, "save"))
    @rule(target=saved)
    def save(self) -> tuple[int, Mapping[str, Filter]]:
        return self.engine.save(self.store), dict(self.model)

    @rule(pair=saved)
    def load(self, pair: tuple[int, Mapping[str, Filter]]) -> None:
        """Perhaps an old version, with newer ones beside it."""
        version, model = pair
        self.engine = type(self.engine).load(self.store, version=version)
        self.model = dict(model)

    @rule(event=events(small=True))
    def match(self, event: dict[str, object]) -> None:
        assert sorted(self.engine.match(event)) == accepting(self.model, event)

    @rule(event=events())
    def match_any(self, event: dict[str, object]) -> None:
        assert sorted(self.engine.match(event)) == accepting(self.model, event)

    @rule(target=readers, table=tables(), is_reader=st.booleans())
    def match_rows(self, table: pa.Table, is_reader: bool) -> tuple[pa.RecordBatchReader, Matches]:
        expected = accepting_each(self.model, numbered_rows(table))
        return self.engine.match_batch(table.to_reader() if is_reader else table), expected

    @rule(target=readers, members=st.lists(st.one_of(st.none(), JSON_EVENTS), max_size=6))
    def match_lines(
        self, members: list[dict[str, object] | None]
    ) -> tuple[pa.RecordBatchReader, Matches]:
        lines = json_lines(members)
        expected = accepting_each(self.model, numbered_lines(lines))
        return self.engine.match_batch(lines), expected

    @rule(pair=consumes(readers))
    def read(self, pair: tuple[pa.RecordBatchReader, Matches]) -> None:
        """Perhaps long after the call, whose state it must show."""
        reader, expected = pair
        assert read(reader) == expected

    @invariant()
    def has_as_many(self) -> None:
        type(self).states += 1
        assert len(self.engine) == len(self.model)


def machine(make: Callable[[], Engine]) -> type[EngineMachine]:
    """The machine for one kind of engine."""
    return type("Machine", (EngineMachine,), {"make": staticmethod(make)})
