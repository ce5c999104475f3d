"""What subscriptions ask for, as Spark aggregations: their predicates and their attributes.

P2-B3 orders the variables of a decision diagram by properties of attributes: how frequent one is,
how much its predicates concentrate, and which others it occurs together with. P2 leaves open how
to measure concentration. Its reason is that concentrated predicates are more likely to be shared.
So here it is exactly that likelihood: the probability that two random uses of the attribute in
subscriptions have the same predicate.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

from boolcast.errors import FilterError, UsageError
from boolcast.filters.canonical import canonical
from boolcast.filters.parsing import parse

_LISTS: Final = (
    "attributes array<string>, "
    "predicates array<struct<predicate: string, attributes: array<string>>>"
)
PROFILES: Final = f"subscription string, rows long, {_LISTS}"
"""The columns of `profile`."""

_READ: Final = f"subscription string, text string, {_LISTS}"
"""What is read from a row; all except the id are null if the filter cannot be read."""

_PREDICATE: Final = pa.struct([("predicate", pa.string()), ("attributes", pa.list_(pa.string()))])
_SCHEMA: Final = pa.schema(
    [
        ("subscription", pa.string()),
        ("text", pa.string()),
        ("attributes", pa.list_(pa.string())),
        ("predicates", pa.list_(_PREDICATE)),
    ]
)


def profile(subscriptions: DataFrame) -> DataFrame:
    """For each id its `attributes`, its distinct `predicates`, and the number of its `rows`.

    Rows with one id are one subscription if their filters are the same. If they differ, or one
    cannot be read, or the id is null, `attributes` and `predicates` are null. Raises UsageError
    if a column is missing.
    """
    missing = [name for name in ("subscription", "filter") if name not in subscriptions.columns]
    if missing:
        raise UsageError(f"the subscriptions lack the column {' and '.join(missing)}")
    texts = subscriptions.select(
        F.col("subscription").cast("string"), F.col("filter").cast("string")
    )
    is_sound = F.col("subscription").isNotNull() & F.every(F.col("text").isNotNull())
    is_one = is_sound & (F.min("text") == F.max("text"))
    return (
        texts.mapInArrow(_profiles, _READ)
        .groupBy("subscription")
        .agg(
            F.count("*").alias("rows"),
            F.when(is_one, F.first("attributes")).alias("attributes"),
            F.when(is_one, F.first("predicates")).alias("predicates"),
        )
    )


def _profiles(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        ids, texts = (column.to_pylist() for column in batch.columns)
        profiles = [_profile(*row) for row in zip(ids, texts, strict=True)]
        yield pa.RecordBatch.from_pylist(profiles, schema=_SCHEMA)


def _profile(subscription: str | None, text: str | None) -> dict[str, object]:
    try:
        read = None if text is None else parse(text)
    except FilterError:
        read = None
    if read is None:
        return {"subscription": subscription}
    predicates = {
        str(leaf): list(dict.fromkeys(leaf.names())) for leaf in canonical(read).predicates()
    }
    return {
        "subscription": subscription,
        "text": str(read),
        "attributes": sorted({name for names in predicates.values() for name in names}),
        "predicates": [
            {"predicate": predicate, "attributes": names} for predicate, names in predicates.items()
        ],
    }


def predicates_of(profiles: DataFrame) -> DataFrame:
    """Each distinct predicate by its canonical text, its attributes, and its subscriptions."""
    each = profiles.select(F.explode("predicates").alias("each")).select("each.*")
    return each.groupBy("predicate").agg(
        F.first("attributes").alias("attributes"), F.count("*").alias("subscriptions")
    )


def attributes_of(profiles: DataFrame, predicates: DataFrame) -> DataFrame:
    """For each attribute: `subscriptions`, `predicates`, `concentration` and `companions`.

    `subscriptions` counts those that use it, `predicates` its distinct predicates, and
    `companions` maps other attributes to the number of subscriptions that use both.
    """
    frequency = (
        profiles.select(F.explode("attributes").alias("attribute"))
        .groupBy("attribute")
        .agg(F.count("*").alias("subscriptions"))
    )
    uses = F.col("subscriptions").cast("double")
    concentration = (
        predicates.select(F.explode("attributes").alias("attribute"), "subscriptions")
        .groupBy("attribute")
        .agg(
            F.count("*").alias("predicates"),
            (F.sum(uses * uses) / F.pow(F.sum(uses), F.lit(2.0))).alias("concentration"),
        )
    )
    companions = (
        profiles.select("attributes", F.explode("attributes").alias("attribute"))
        .select("attribute", F.explode("attributes").alias("other"))
        .where(F.col("attribute") != F.col("other"))
        .groupBy("attribute", "other")
        .agg(F.count("*").alias("both"))
        .groupBy("attribute")
        .agg(_map("other", "both").alias("companions"))
    )
    return frequency.join(concentration, "attribute").join(companions, "attribute", "left")


def _map(key: str, value: str) -> Column:
    return F.map_from_entries(F.sort_array(F.collect_list(F.struct(key, value))))
