"""How a task reads the files of a stream; no Spark is needed for it."""

import io
import random
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fsspec.implementations.memory import MemoryFile
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import sampled_from

from boolcast import Matcher
from boolcast.errors import StreamError
from boolcast.filters.expressions import Filter
from boolcast.matching.store.catalog import index_of
from boolcast.matching.store.snapshots import read_manifest
from boolcast.matching.store.store import FolderStore
from boolcast.pipeline.events.decoded_batches import Attributes, Source
from boolcast.pipeline.events.event_ids import ids_of, may_convert
from boolcast.pipeline.events.file_events import FileEvents, IdColumn, Portion, Unreadable
from boolcast.pipeline.matching.match_task import MatchFormat, MatchJob
from boolcast.pipeline.matching.matches import groups_of
from boolcast.pipeline.spark.files import folder_values, root_of
from boolcast.pipeline.streaming.delivery import Delivery
from tests.matching.conformance import COLUMNS, PROBES, accepting_each, filled
from tests.pipeline.test_agreement import FILTERS, IDS, TYPES, split
from tests.strategies import SMALL_NAMES

EXAMPLES: Final = max(settings.default.max_examples // 10, 1)  # type: ignore[union-attr]

ROWS: Final = 12

WRITABLE: Final[dict[pa.DataType, tuple[object, ...]]] = {}
"""All types of Arrow that a Parquet file can hold, with values that bear on the filters."""

for kind, values in {
    **COLUMNS,
    **TYPES,
    pa.struct([("x", pa.string_view())]): ({"x": "a"}, {"x": None}),
    pa.list_(pa.string_view()): (["a"], []),
}.items():
    with suppress(pa.ArrowException):
        pq.write_table(pa.table({"a": pa.array(values, kind, from_pandas=False)}), io.BytesIO())
        WRITABLE[kind] = values


@st.composite
def drifting(draw: st.DrawFn) -> list[pa.Table]:
    """A few files, each with columns of its own."""
    names = (*SMALL_NAMES, "a.x")
    tables = []
    for number in range(draw(st.integers(1, 4))):
        columns = {"id": pa.array(range(number * ROWS, (number + 1) * ROWS))}
        for name in draw(st.lists(sampled_from(names), unique=True)):
            kind = draw(sampled_from(list(WRITABLE)))
            value = sampled_from((None, *WRITABLE[kind]))
            values = draw(st.lists(value, min_size=ROWS, max_size=ROWS))
            columns[name] = pa.array(values, kind, from_pandas=False)
        tables.append(pa.table(columns))
    return tables


def needed_by(store: FolderStore) -> frozenset[str]:
    parts = index_of(read_manifest(store, 1)).parts
    return frozenset(name for part in parts for name in part.attributes)


def reading(needed: frozenset[str], **changed: Any) -> FileEvents:
    told = FileEvents(IdColumn("id", pa.int64(), "bigint"), needed, None, "/", {}, None)
    return told._replace(**changed)


def portions(files: FileEvents, *paths: object) -> list[Any]:
    """What is read of some files, and what cannot be."""
    names = [path if isinstance(path, str) else f"file:{path}" for path in paths]
    return list(files.read([pa.record_batch({"path": names})]))


def delivered(
    index: FolderStore, output: Path, paths: Sequence[Path], form: MatchFormat
) -> dict[str, list[dict[str, Any]]]:
    """What a task puts into both tables, by their names."""
    groups = groups_of(index_of(read_manifest(index, 1)), 1)
    job = MatchJob(index, groups, Source(Attributes(None)))
    files = reading(needed_by(index))
    store = FolderStore(output)
    task = Delivery(job=job, files=files, form=form, output=store, batch=0, version=1)
    (reports,) = task(iter([pa.record_batch({"path": [f"file:{path}" for path in paths]})]))
    found: dict[str, list[dict[str, Any]]] = {"matches": [], "dead_letters": [], "events": []}
    for report in reports.to_pylist():
        if report["name"]:
            found[report["table"]] += pq.read_table(output / report["name"]).to_pylist()
    return found


@settings(max_examples=EXAMPLES)
@given(
    tables=drifting(),
    subscriptions=st.dictionaries(IDS, FILTERS, min_size=1),
    groups=sampled_from([5, 1_000]),
    form=sampled_from(["rows", "lists"]),
    damaged=st.booleans(),
)
def test_a_task_finds_what_the_engine_finds(
    tables: list[pa.Table],
    subscriptions: Mapping[str, Filter],
    groups: int,
    form: MatchFormat,
    damaged: bool,
) -> None:
    """Law 6, however the columns drift; a damaged file in between costs itself alone."""
    subscriptions = {**subscriptions, **PROBES}
    with TemporaryDirectory() as folder:
        root = Path(folder)
        filled(Matcher, subscriptions).save(root / "index")
        paths = []
        expected, bad = [], set()
        for number, table in enumerate(tables):
            paths.append(root / f"{number}.parquet")
            pq.write_table(table, paths[-1], row_group_size=groups)
            good, malformed = split(pq.read_table(paths[-1]))
            numbered = [(number * ROWS + row, event) for row, event in good]
            expected += accepting_each(subscriptions, numbered)
            bad |= {number * ROWS + row for row in malformed}
        if damaged:
            bad_file = root / "damaged.parquet"
            bad_file.write_bytes(paths[0].read_bytes()[:-9])
            paths.insert(1, bad_file)
        found = delivered(FolderStore(root / "index"), root / "output", paths, form)
    if form == "lists":
        pairs = [(row["id"], name) for row in found["matches"] for name in row["subscriptions"]]
    else:
        pairs = [(row["id"], row["subscription"]) for row in found["matches"]]
    assert sorted(pairs) == sorted(expected)
    told = {row["id"] for row in found["dead_letters"]}
    assert told == bad | ({None} if damaged else set())


def test_a_task_tells_what_it_could_not_match(tmp_path):
    filled(Matcher, {"x": "a = 'x'"}).save(tmp_path / "index")
    paths = [tmp_path / f"{number}.parquet" for number in range(3)]
    views = pa.array(["x", "x", None], pa.string_view())
    pq.write_table(pa.table({"id": [1, None, 2], "a": views}), paths[0])
    paths[1].write_bytes(b"nothing of use")
    pq.write_table(pa.table({"id": ["3", "b"], "a": ["x", "x"]}), paths[2])
    found = delivered(FolderStore(tmp_path / "index"), tmp_path / "output", paths, "rows")
    assert [(row["id"], row["subscription"]) for row in found["matches"]] == [(1, "x"), (3, "x")]
    nameless, damaged, other = found["dead_letters"]
    assert nameless["error"] == "the event has no id"
    assert damaged["error"].startswith(f"no event of {paths[1]} can be read: ")
    assert other["error"] == "the id 'b' cannot become type bigint"
    assert {row["id"] for row in found["dead_letters"]} == {None}


TABLE: Final = pa.table(
    {
        "id": range(2_000),
        "a": [f"text {number % 97}" for number in range(2_000)],
        "b": [number * 0.5 for number in range(2_000)],
        "c": [{"x": number} for number in range(2_000)],
    }
)
FILES: Final = reading(frozenset(("a", "b", "c.x")))


@pytest.mark.parametrize("compression", ["snappy", "none", "zstd"])
def test_any_damage_is_told_and_nothing_else_raised(tmp_path, compression):
    path, whole = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pq.write_table(TABLE, whole, row_group_size=500, compression=compression)
    data = whole.read_bytes()
    chance = random.Random(compression)
    outcomes = set()
    for _ in range(150):
        bad = bytearray(data)
        if chance.random() < 0.2:
            del bad[chance.randrange(1, len(bad)) :]
        # Half of them near the end, where the footer is.
        elif chance.random() < 0.5:
            bad[chance.randrange(len(bad))] ^= 1 << chance.randrange(8)
        else:
            bad[-chance.randrange(1, 2_500)] ^= 1 << chance.randrange(8)
        path.write_bytes(bad)
        *found, last = portions(FILES, path, whole)
        outcomes |= {type(each) for each in found}
        assert isinstance(last, Portion)
        assert last.events.num_rows == 500
    assert outcomes == {Portion, Unreadable}


def test_rows_that_are_damaged_are_told_and_the_others_read(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(TABLE, path, row_group_size=500, write_page_checksum=True)
    begin = pq.read_metadata(path).row_group(2).column(1).data_page_offset
    data = bytearray(path.read_bytes())
    data[begin + 200] ^= 1
    path.write_bytes(data)
    first, second, bad, last = portions(FILES, path)
    assert [each.events.column(0)[0].as_py() for each in (first, second, last)] == [0, 500, 1500]
    assert bad.reason.startswith(f"the rows 1000 to 1499 of {path} cannot be read: ")
    assert "\n" not in bad.reason
    # Of a column that no filter asks for nobody knows.
    assert len(portions(reading(frozenset("b")), path)) == 4
    assert all(isinstance(each, Portion) for each in portions(reading(frozenset("b")), path))


def test_files_that_cannot_be_reached_end_the_task(tmp_path):
    pq.write_table(TABLE, tmp_path / "a.parquet")
    with pytest.raises(StreamError, match=r"b\.parquet cannot be reached: .*No such file"):
        portions(FILES, tmp_path / "a.parquet", tmp_path / "b.parquet")
    with pytest.raises(StreamError, match=r"b\.parquet cannot be reached"):
        portions(FILES, "memory://bucket/b.parquet")


def test_files_elsewhere_are_read_by_fsspec(monkeypatch):
    system = fsspec.filesystem("memory")
    with system.open("/bucket/a b.parquet", "wb") as file:
        pq.write_table(TABLE, file)
    system.pipe_file("/bucket/bad.parquet", b"nothing of use")
    first, bad = portions(FILES, "memory:///bucket/a b.parquet", "memory:///bucket/bad.parquet")
    assert first.events.num_rows == 2_000
    assert bad.reason.startswith("no event of memory:///bucket/bad.parquet can be read: ")

    def reset(*_):
        raise ConnectionResetError("the connection was reset")

    monkeypatch.setattr(MemoryFile, "read", reset)
    with pytest.raises(StreamError, match="cannot be reached: the connection was reset"):
        portions(FILES, "memory:///bucket/a b.parquet")


@pytest.mark.parametrize(
    ("columns", "needed", "expected"),
    [
        ([("a", pa.int64()), ("b", pa.int64())], "a", ["a"]),
        ([("a", pa.struct([("x", pa.int64())])), ("a.y", pa.int64())], "a.x", ["a"]),
        ([("a", pa.struct([("x", pa.int64())])), ("a.y", pa.int64())], "a.y", ["a.y"]),
        ([("a", pa.struct([("x", pa.int64())])), ("a.x", pa.int64())], "b", ["a", "a.x"]),
        ([("a", pa.int64()), ("a", pa.int64()), ("b", pa.int64())], "b", ["a", "a", "b"]),
        ([("A", pa.int64()), ("a", pa.int64())], "a", ["a"]),
        ([("A", pa.int64()), ("a", pa.int64())], "A", ["A"]),
        ([("a", pa.int64())], "id", ["id"]),
        ([("a", pa.int64())], "b", []),
    ],
)
def test_the_columns_that_are_read(tmp_path, columns, needed, expected):
    fields = [pa.field("id", pa.int64()), *(pa.field(*each) for each in columns)]
    table = pa.Table.from_arrays(
        [pa.nulls(3, each.type) for each in fields], schema=pa.schema(fields)
    )
    pq.write_table(table, tmp_path / "a.parquet")
    (found,) = portions(reading(frozenset((needed,))), tmp_path / "a.parquet")
    assert found.events.schema.names == ["id", *expected]
    assert found.events.num_rows == 3


UUID: Final = uuid.UUID("ec7afeb1-9d24-44a1-9b68-c1f0752f40f3")
SECOND: Final = timedelta(seconds=1)
BROKEN: Final = pa.array([b"a", b"\xff", b"b"], pa.binary()).cast(pa.string(), safe=False)
"""Strings, of which one is not valid."""


@pytest.mark.parametrize(
    ("found", "wanted", "expected"),
    [
        (pa.array([1, None], pa.int8()), pa.int64(), [1, None]),
        (pa.array([1, 300]), pa.int8(), [1, "300"]),
        (pa.array([1.0, 1.5, 2.0**50]), pa.int64(), [1, "1.5", 2**50]),
        (pa.array([1, 2**53 + 1]), pa.float64(), [1.0, "9007199254740993"]),
        (
            pa.array(["7", "007", " 7", "x", "", None]),
            pa.int64(),
            [7, "'007'", "' 7'", "'x'", "''", None],
        ),
        (pa.array([7, -1]), pa.string(), ["7", "-1"]),
        (pa.array(["a", None, "a"]).dictionary_encode(), pa.string(), ["a", None, "a"]),
        (pa.array(["a"], pa.large_string()), pa.string(), ["a"]),
        (
            pa.array([1_000, 1], pa.timestamp("ns")).cast(pa.timestamp("ns", "UTC")),
            pa.timestamp("us", "UTC"),
            None,
        ),
        (pa.nulls(2), pa.string(), [None, None]),
        (BROKEN, pa.string(), ["a", r"b'\xff'", "b"]),
        (BROKEN, pa.int64(), ["'a'", r"b'\xff'", "'b'"]),
        (BROKEN, pa.binary(), [b"a", b"\xff", b"b"]),
        (BROKEN.cast(pa.string_view()), pa.string(), ["a", r"b'\xff'", "b"]),
        (BROKEN.dictionary_encode(), pa.string(), ["a", r"b'\xff'", "b"]),
        (pa.array([b"a", b"\xff", None]), pa.string(), ["a", r"b'\xff'", None]),
        (pa.array([b"a", b"\xff"], pa.large_binary()), pa.string(), ["a", r"b'\xff'"]),
        (pa.array([b"ab", b"\xff\xff"], pa.binary(2)), pa.string(), ["ab", r"b'\xff\xff'"]),
        (pa.array([b"ab", b"\xff\xff"], pa.binary(2)), pa.binary(), [b"ab", b"\xff\xff"]),
        (pa.array([b"ab"], pa.binary_view()), pa.binary(), [b"ab"]),
        (pa.array(["ab", "ü"]), pa.binary(), [b"ab", "ü".encode()]),
        (pa.array([UUID.bytes, None], pa.uuid()), pa.string(), [str(UUID), None]),
        (pa.array([UUID.bytes], pa.uuid()), pa.binary(), [UUID.bytes]),
        (pa.array(["a", None], pa.json_()), pa.string(), ["a", None]),
        (pa.array([1, 2], pa.duration("s")), pa.duration("us"), [SECOND, 2 * SECOND]),
        (pa.array([Decimal("1.25")], pa.decimal256(60, 2)), pa.string(), ["1.25"]),
        (pa.array([Decimal("1.25")], pa.decimal256(60, 2)), pa.decimal128(9, 1), ["1.25"]),
        (pa.array([2**60], pa.timestamp("s")), pa.timestamp("us"), [str(2**60)]),
        (pa.array([[1]], pa.list_(pa.int8())), pa.list_(pa.int64()), [[1]]),
        (
            pa.array([{"x": 1}], pa.struct([("x", pa.int32())])),
            pa.struct([("x", pa.int32())]),
            [{"x": 1}],
        ),
    ],
)
def test_ids_of_another_type_are_the_same_or_none(found, wanted, expected):
    assert may_convert(found.type, wanted)
    array, problems = ids_of(found, wanted, "such")
    assert array.type == wanted
    values = array.to_pylist()
    if expected is None:
        assert (values[0].microsecond, values[1], list(problems)) == (1, None, [1])
        return
    for row, value in enumerate(expected):
        if values[row] is None and value is not None:
            told = problems[row].replace("Decimal('1.25')", "1.25")
            assert told == f"the id {value} cannot become type such"
        else:
            assert values[row] == value
            assert row not in problems


def test_ids_of_views(tmp_path):
    for kind in (pa.string_view(), pa.large_string()):
        pq.write_table(pa.table({"id": pa.array(["7", None, "x"], kind)}), tmp_path / "a.parquet")
        for wanted, expected in {
            pa.string(): ["7", None, "x"],
            pa.int64(): [7, None, None],
        }.items():
            files = reading(frozenset(("id",)), event_id=IdColumn("id", wanted, "such"))
            (found,) = portions(files, tmp_path / "a.parquet")
            assert found.events.column(0).to_pylist() == expected


def test_ids_of_kinds_that_have_nothing_in_common():
    kinds = [
        *(pa.bool_(), pa.timestamp("us"), pa.date32(), pa.time64("us"), pa.duration("s")),
        *(pa.list_(pa.int64()), pa.struct([("x", pa.string())]), pa.map_(pa.string(), pa.string())),
        pa.month_day_nano_interval(),
    ]
    for found in kinds:
        assert not may_convert(found, pa.int64())
        assert not may_convert(found, pa.string())
        assert not may_convert(found, pa.binary())
    assert not may_convert(pa.binary(), pa.int64())
    assert not may_convert(pa.uuid(), pa.int64())
    assert not may_convert(pa.list_(pa.string()), pa.list_(pa.int64()))
    assert not may_convert(pa.struct([("x", pa.int64())]), pa.struct([("y", pa.int64())]))


def test_what_folders_tell(tmp_path, monkeypatch):
    path = "file:/data/run=5/events/day=2026-11-15/city=S%C3%A3o%2FPaulo/a=1.parquet"
    told = {"day": "2026-11-15", "city": "São/Paulo"}
    assert folder_values(path, root_of("/data/run=5/events")) == told
    assert folder_values(path, root_of("file:///data/run=5/events/")) == told
    assert folder_values(path, root_of("/data/run=5/eve*")) == told
    assert folder_values(path, root_of("/data/run=*/events")) == {"run": "5", **told}
    assert folder_values("s3a://bucket/x/day=1/a", root_of("s3a://bucket/x")) == {"day": "1"}
    assert folder_values("file:/data[1]/day=1/a", root_of(r"/data\[1\]")) == {"day": "1"}
    monkeypatch.chdir(tmp_path)
    assert folder_values(f"file:{tmp_path}/x/day=1/a", root_of("x")) == {"day": "1"}


def test_types_of_extensions_are_what_the_engine_makes_of_them(tmp_path):
    """JSON is a string; of a UUID an attribute is opaque, and an id is text."""
    matcher = filled(Matcher, {"json": "a = 'x'", "there": "b is not null", "deep": "c.v = 'v'"})
    matcher.save(tmp_path / "index")
    nested = pa.StructArray.from_arrays(
        [pa.array([UUID.bytes] * 2, pa.uuid()), pa.array(["v", "w"], pa.string_view())],
        names=["u", "v"],
    )
    table = pa.table(
        {
            "id": pa.array([1, 2]),
            "a": pa.array(["x", "y"], pa.json_()),
            "b": pa.array([UUID.bytes, None], pa.uuid()),
            "c": nested,
        }
    )
    path = tmp_path / "a.parquet"
    pq.write_table(table, path)
    found = delivered(FolderStore(tmp_path / "index"), tmp_path / "output", [path], "rows")
    pairs = sorted((row["id"], row["subscription"]) for row in found["matches"])
    assert pairs == [(1, "deep"), (1, "json"), (1, "there")]
    same = matcher.match_batch(table).read_all().to_pylist()
    assert sorted((row["event"] + 1, row["subscription"]) for row in same) == pairs
    text = reading(frozenset(), json="a")
    (portion,) = portions(text, path)
    assert portion.events.column("a") == pa.array(["x", "y"])


@pytest.mark.parametrize("storage", [pa.string(), pa.large_string(), pa.string_view()])
def test_json_beside_events_without_an_id(tmp_path, storage):
    """Of which single rows are taken, whatever the JSON is stored as, or in."""
    filled(Matcher, {"x": "a = 'x' and b.c = 'x'"}).save(tmp_path / "index")
    texts = pa.array(["x", "x", None], storage).cast(pa.json_(storage))
    nested = pa.StructArray.from_arrays([texts], names=["c"])
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": [1, None, 2], "a": texts, "b": nested}), path)
    found = delivered(FolderStore(tmp_path / "index"), tmp_path / "output", [path], "rows")
    assert [(row["id"], row["subscription"]) for row in found["matches"]] == [(1, "x")]
    assert [row["error"] for row in found["dead_letters"]] == ["the event has no id"]


def test_a_file_tells_better_than_its_folder(tmp_path):
    """By the names of attributes: a folder item.price=3 against the field of a struct."""
    folder = tmp_path / "item.price=3" / "item=4" / "item.colour=red"
    folder.mkdir(parents=True)
    table = pa.table({"id": [1, 2], "item": [{"price": 5, "size": 1}, {"price": None, "size": 2}]})
    pq.write_table(table, folder / "a.parquet")
    needed = frozenset(("item.price", "item", "item.colour", "item.size"))
    (found,) = portions(reading(needed, root=f"{tmp_path}/"), folder / "a.parquet")
    rows = found.events.to_pylist()
    assert rows == [
        {"id": 1, "item": {"price": 5, "size": 1}, "item.colour": "red"},
        {"id": 2, "item": {"price": None, "size": 2}, "item.colour": "red"},
    ]
