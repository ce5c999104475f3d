import math
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.model.events import conforms
from boolcast.workloads import BOOK_SCHEMA, PRESETS, Auction, AuctionParameters
from tests.examples import examples

COUNT = 200_000


@pytest.fixture(scope="module")
def books():
    """200,000 events with the defaults of W5, as numpy columns."""
    table = Auction(seed=7).events(0, COUNT)
    return {name: table[name].to_numpy() for name in table.column_names}


def test_events_have_the_ten_attributes_of_w1():
    string, integer = pa.string(), pa.int64()
    assert Auction(seed=1).events(0, 0).schema == pa.schema(
        {
            "title": string,
            "author": string,
            "category": string,
            "format": string,
            "condition": string,
            "price": integer,
            "ending": integer,
            "bids": integer,
            "buyItNow": integer,
            "special": string,
        }
    )


@pytest.mark.parametrize("parameters", PRESETS.values(), ids=PRESETS)
def test_events_conform_to_the_schema(parameters):
    auction = Auction(parameters, seed=3)
    assert all(conforms(auction.event(row), auction.schema) for row in range(200))


@pytest.mark.parametrize(
    ("attribute", "value", "share"),
    [
        ("condition", "new", 0.2),
        ("condition", "used", 0.8),
        ("format", "softcover", 0.6),
        ("format", "hardcover", 0.4),
        ("bids", 0, 0.97),
        ("buyItNow", 1, 0.2),
        ("buyItNow", 0, 0.8),
        ("special", "signed", 0.02),
    ],
)
def test_shares_are_those_of_w5(books, attribute, value, share):
    error = math.sqrt(share * (1 - share) / COUNT)
    assert np.mean(books[attribute] == value) == pytest.approx(share, abs=5 * error)


def test_prices_are_lognormal(books):
    assert books["price"].min() >= 1
    assert np.median(books["price"]) == pytest.approx(300, rel=0.01)
    logarithms = np.log(books["price"])
    assert logarithms.std() == pytest.approx(0.8, rel=0.01)
    assert np.mean(logarithms > math.log(300) + 0.8) == pytest.approx(0.1587, abs=0.004)


def test_the_median_price_can_be_set():
    prices = Auction(AuctionParameters(price_median=600), seed=7).events(0, COUNT)["price"]
    assert np.median(prices) == pytest.approx(600, rel=0.01)


def test_auctions_end_uniformly_within_a_week(books):
    counts = np.bincount(books["ending"])
    assert len(counts) == 168
    assert np.mean(books["ending"] < 24) == pytest.approx(1 / 7, abs=0.004)
    assert np.abs(counts / COUNT * 168 - 1).max() < 0.15


@pytest.mark.parametrize(
    ("attribute", "size"), [("title", 200_000), ("author", 20_000), ("category", 100)]
)
def test_names_are_uniform(books, attribute, size):
    assert all(text.startswith(f"{attribute} ") for text in books[attribute][:100])
    numbers = np.array([int(text.rpartition(" ")[2]) for text in books[attribute]])
    assert numbers.min() >= 0
    assert numbers.max() < size
    expected = size * (1 - (1 - 1 / size) ** COUNT)
    assert len(np.unique(numbers)) == pytest.approx(expected, rel=0.01)
    assert numbers.mean() == pytest.approx((size - 1) / 2, rel=0.01)


def test_titles_follow_zipf_where_asked():
    parameters = AuctionParameters(titles=10_000, zipf_exponent=0.8)
    titles = Auction(parameters, seed=7).events(0, COUNT)["title"].to_numpy()
    total = (np.arange(1, 10_001) ** -0.8).sum()
    for number in (0, 1, 9):
        share = (number + 1) ** -0.8 / total
        assert np.mean(titles == f"title {number}") == pytest.approx(share, rel=0.05)


def test_attributes_are_independent(books):
    numbers = [
        books["price"],
        books["ending"],
        books["bids"] == 0,
        books["buyItNow"],
        books["special"] == "signed",
        books["condition"] == "new",
        books["format"] == "softcover",
        [int(text[6:]) for text in books["title"]],
        [int(text[7:]) for text in books["author"]],
        [int(text[9:]) for text in books["category"]],
    ]
    correlations = np.corrcoef(np.array(numbers, float)) - np.eye(10)
    assert np.abs(correlations).max() < 5 / math.sqrt(COUNT)


@pytest.mark.parametrize("name", ["auction", "auction-random"])
@examples(20)
@given(cuts=st.lists(st.integers(0, 40_000), max_size=6), start=st.integers(0, 2**40))
def test_slices_do_not_matter(name, cuts, start):
    auction = Auction(PRESETS[name], seed=5)
    edges = [0, *sorted(cuts), 40_000]
    slices = [auction.events(start + low, high - low) for low, high in pairwise(edges)]
    assert pa.concat_tables(slices).equals(auction.events(start, 40_000))


def test_one_event_is_its_row():
    auction = Auction(seed=5)
    rows = auction.events(1_000, 100).to_pylist()
    assert [auction.event(row) for row in range(1_000, 1_100)] == rows


def test_seeds_differ():
    first, second = (Auction(seed=seed).events(0, 1_000) for seed in (1, 2))
    for name in BOOK_SCHEMA.attributes:
        assert first[name] != second[name]


def test_the_generator_has_not_changed():
    first = "title 118799|author 7716|category 28|softcover|used|140|95|0|0|none"
    assert "|".join(map(str, Auction(seed=1).event(0).values())) == first
    far = "title 193203|author 14909|category 34|hardcover|used|1083|5|0|1|none"
    assert "|".join(map(str, Auction(PRESETS["auction-zipf"], seed=1).event(2**40).values())) == far
    table = Auction(seed=1).events(0, 100_000).select(["price", "ending", "bids", "buyItNow"])
    assert [sum(column.to_pylist()) for column in table] == [41556457, 8350504, 6761, 19959]
