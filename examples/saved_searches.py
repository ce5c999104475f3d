"""Saved searches of a bookshop on Spark: who hears about the books that came in today?

Needs the extra `spark` (docs/guides/spark.md). The data are made up and the index goes to a
temporary folder; yours would be tables, and a shared folder or an object store.
"""

from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession

from boolcast import pipeline

SEARCHES = [
    ("ada", "author = 'Ursula K. Le Guin' and price < 15"),
    ("ben", "category in ('crime', 'thriller') and not condition = 'worn' and price <= 8"),
    ("cem", "condition = 'signed' or year < 1900"),
    ("dana", "starts_with(title, 'The ') and price < "),  # typed in a hurry
]
BOOKS = [
    (1, "The Dispossessed", "Ursula K. Le Guin", "science fiction", 1974, "good", 9.5),
    (2, "The Dispossessed", "Ursula K. Le Guin", "science fiction", 1974, "signed", 120.0),
    (3, "Gaudy Night", "Dorothy L. Sayers", "crime", 1935, "good", 6.0),
    (4, "Gaudy Night", "Dorothy L. Sayers", "crime", 1935, "worn", 2.0),
    (5, "Middlemarch", "George Eliot", "novel", 1871, "good", 30.0),
    (6, "Dune", "Frank Herbert", "science fiction", 1965, "good", 7.0),
]
COLUMNS = "book int, title string, author string, category string, year int, condition string"


def main(spark: SparkSession, index: str) -> None:
    """Build an index of the searches, match the books, then match again after a change."""
    searches = spark.createDataFrame(SEARCHES, "subscription string, filter string")
    books = spark.createDataFrame(BOOKS, f"{COLUMNS}, price double")

    report = pipeline.build_index(searches, index)
    print(f"{report.subscriptions} searches saved, {report.rejected} rejected:")
    for row in report.rejects.collect():
        print(f"  {row.subscription}: {row.error}")

    print("\nNew books today:")
    found = pipeline.match(books, index, event_id="book", form="lists").join(books, "book")
    for row in found.orderBy("book").collect():
        name = f"{row.title} ({row.condition}, {row.price:.2f})"
        print(f"  {name:<36}{', '.join(sorted(row.subscriptions)) or '-'}")

    changes = [("dana", "starts_with(title, 'The ') and price < 50"), ("cem", None)]
    pipeline.apply_changes(spark.createDataFrame(changes, searches.schema), index)
    print("\nAfter dana fixes her search and cem deletes his, books per search:")
    for row in pipeline.count_matches(books, index).orderBy("subscription").collect():
        print(f"  {row.subscription}: {row.matches}")


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        main(pipeline.session(), f"{folder}/index")
