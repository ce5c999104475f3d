"""Whatever is wrong with a row ends among the rejects or dead letters, and the job goes on.

Rows of subscriptions are in `test_indexing`, JSON in `test_events` and `test_stream`; here are
typed columns, and what Spark's readers make of files that are not as the schema says.
"""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from boolcast.errors import StreamError
from boolcast.pipeline import match, match_rejects, read_dead_letters
from tests.pipeline.streams import SCHEMA, Scene, event


@pytest.fixture
def scene(tmp_path):
    return Scene(tmp_path)


def pairs(scene):
    return sorted((row["id"], row["subscription"]) for row in scene.rows())


def test_lines_that_spark_cannot_read_have_no_id(spark, scene):
    scene.save(cheap="price < 10")
    scene.put(
        "a",
        [
            {"id": 1, "price": 5.0, "title": "x"},
            "{garbage",
            {"id": None, "price": 5.0},
            {"id": "one", "price": 5.0},
            {"id": 2, "price": "five"},
            {"id": 3, "price": [5.0], "unknown": {"x": 1}},
        ],
    )
    scene.put("b", [event(4)])
    first, second = scene.run(spark)
    assert (first.events, first.dead_letter_count, second.dead_letter_count) == (6, 3, 0)
    assert pairs(scene) == [
        (1, "all"),
        (1, "cheap"),
        (2, "all"),
        (3, "all"),
        (4, "all"),
        (4, "cheap"),
    ]
    letters = read_dead_letters(spark, scene.output).collect()
    assert {(letter.id, letter.error) for letter in letters} == {(None, "the event has no id")}


def test_in_a_table_an_event_without_an_id_is_matched_under_null(spark, scene):
    scene.save(cheap="price < 10", every="price is not null")
    events = spark.sql("select cast(null as long) id, 5.0 price union all select 1, 50.0")
    found = {
        (row.id, row.subscription) for row in match(events, scene.index, event_id="id").collect()
    }
    assert found == {(None, "cheap"), (None, "every"), (1, "all"), (1, "every")}
    lists = match(events, scene.index, event_id="id", form="lists").collect()
    assert {row.id: set(row.subscriptions) for row in lists} == {
        None: {"cheap", "every"},
        1: {"all", "every"},
    }
    assert match_rejects(events, scene.index, event_id="id").count() == 0


def test_a_malformed_event_of_columns_is_told(spark, scene):
    scene.save(cheap="item.price < 10")
    files = {
        "a": [{"id": 1, "item": {"price": 5.0}, "item.price": None}],
        "b": [{"id": 2, "item": {"price": 5.0}, "item.price": 6.0}],
        "c": [{"id": 3, "item": None, "item.price": 7.0}],
    }
    for name, values in files.items():
        scene.put(name, values)
    source = scene.source(spark, "id long, item struct<price: double>, `item.price` double")
    scene.start(source).wait()
    assert pairs(scene) == [(1, "all"), (1, "cheap"), (3, "all"), (3, "cheap")]
    (letter,) = read_dead_letters(spark, scene.output).collect()
    assert (letter.id, letter.event) == (2, None)
    assert "item.price" in letter.error


def put_parquet(scene, number, price):
    table = pa.Table.from_pylist([{"id": number, "price": price}])
    partial = scene.folder / "partial"
    pq.write_table(table, partial)
    scene.reveal(partial, f"{number}.parquet")


@pytest.mark.parametrize("is_mended", [True, False])
def test_a_file_whose_column_has_another_type_stops_the_stream_until_it_is_seen_to(
    spark, scene, is_mended
):
    scene.save(cheap="price < 10")
    for number, price in enumerate((5.0, "five", 6.0)):
        put_parquet(scene, number, price)

    def start(**options):
        reader = spark.readStream.schema(SCHEMA).options(maxFilesPerTrigger=1, **options)
        return scene.start(reader.parquet(str(scene.events)))

    with pytest.raises(StreamError, match=r"cannot read the events: .*1\.parquet.*price") as caught:
        start().wait()
    assert "\n" not in str(caught.value)
    assert pairs(scene) == [(0, "all"), (0, "cheap")]
    if is_mended:
        put_parquet(scene, 1, 7.0)
        start().wait()
    else:
        start(ignoreCorruptFiles=True).wait()
    expected = (0, 1, 2) if is_mended else (0, 2)
    assert pairs(scene) == [(each, name) for each in expected for name in ("all", "cheap")]
