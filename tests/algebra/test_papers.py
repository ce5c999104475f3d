"""The papers' worked examples that are about what filters mean and how they lie to each other."""

from itertools import product

import pytest

from boolcast.algebra import covers, normalise_conjunction, overlaps, relate
from boolcast.filters.expressions import Comparison, Operator
from boolcast.filters.parsing import parse
from boolcast.model.schemas import Attribute, Schema

INTEGERS = Schema({name: Attribute("number", integer=True) for name in "xyz"})
REALS = Schema({name: Attribute("number") for name in "xyz"})


class TestP2:
    """Predicate and filter covering of conjunctions (P2-A7, P2-A8)."""

    def test_t6_implications(self):
        """P2-T6: x1 implies x2 implies x3, and none the other way."""
        x1, x2, x3 = parse("price >= 10"), parse("price >= 8"), parse("price >= 5")
        assert covers(x2, x1)
        assert covers(x3, x2)
        assert covers(x3, x1)
        assert not covers(x1, x2)
        assert not covers(x2, x3)
        assert not covers(x1, x3)

    def test_t3_a_new_subscription_that_is_covered(self):
        """P2-T3: price = 80 is covered by price < 150, and unrelated to price = 150."""
        rest = "and time = 'July 20,2004' and destination = 'Ottawa'"
        new = parse(f"price = 80 {rest}")
        assert relate(parse(f"price < 150 {rest}"), new) == "covers"
        assert relate(parse(f"price = 150 {rest}"), new) == "disjoint"

    def test_t4_an_extra_attribute_restricts(self):
        """P2-T4: price < 200 at one destination does not cover price < 150 anywhere."""
        general = parse("price < 200 and destination = 'Ottawa'")
        assert relate(general, parse("price < 150")) == "intersects"

    def test_t5_an_unconstrained_attribute_does_not_restrict(self):
        """P2-T5: price < 200 covers price < 100 at one destination."""
        specific = parse("price < 100 and destination = 'Ottawa'")
        assert relate(parse("price < 200"), specific) == "covers"

    def test_b5_covering_beyond_conjunctions(self):
        """P2-B5: a < 10 ∧ b < 10 does not cover a < 5 ∨ b < 3."""
        assert not covers(parse("a < 10 and b < 10"), parse("a < 5 or b < 3"))


class TestP3:
    """Violating predicates (P3-B2) and overlap (P3-A6)."""

    OPERATORS: tuple[Operator, ...] = ("=", "!=", "<", ">")

    @pytest.mark.parametrize(("first", "second"), list(product(OPERATORS, repeat=2)))
    def test_b2_violating_predicates(self, first: Operator, second: Operator):
        """P3-B2, corrected: two predicates violate each other iff no value satisfies both."""
        domain = range(7)
        schema = Schema(
            {"x": Attribute("number", integer=True, minimum=0, maximum=6, required=True)}
        )
        for left, right in product(domain, repeat=2):
            one, other = Comparison("x", first, left), Comparison("x", second, right)
            has_common = any(one.accepts({"x": x}) and other.accepts({"x": x}) for x in domain)
            assert overlaps(one, other, schema=schema).holds == has_common, (one, other)

    def test_t9_two_inequalities(self):
        """P3-T9: x != 3 and x != 5 overlap on 0…6 and not on {3, 5}."""
        advertisement, subscription = parse("x != 3"), parse("x != 5")
        wide = Schema({"x": Attribute("number", integer=True, minimum=0, maximum=6)})
        narrow = Schema({"x": Attribute("number", values=(3, 5))})
        assert overlaps(advertisement, subscription, schema=wide)
        assert not overlaps(advertisement, subscription, schema=narrow)

    def test_t10_integers_and_reals(self):
        """P3-T10: between 10 and 11 there are reals and no integers."""
        assert not overlaps(parse("x = 10"), parse("x > 10"))
        assert not overlaps(parse("x > 10"), parse("x < 11"), schema=INTEGERS)
        assert overlaps(parse("x > 10"), parse("x < 11"), schema=REALS)
        assert overlaps(parse("x > 10"), parse("x < 11"))

    def test_b4_joint_contradictions_are_seen(self):
        """P3-B4 reports x > 5 ∧ x < 8 against x != 6 ∧ x != 7 in excess; the algebra does not."""
        advertisement, subscription = parse("x > 5 and x < 8"), parse("x != 6 and x != 7")
        assert not overlaps(advertisement, subscription, schema=INTEGERS)
        assert overlaps(advertisement, subscription)


class TestP5:
    """Normalisation of conjunctions (P5-B1) and relations (P5-B2)."""

    @pytest.mark.parametrize(
        ("written", "normal"),
        [
            ("x > 5 and x > 2 and y > 3", "x > 5 and y > 3"),
            ("z = 9 and z < 10 and z > 2", "z = 9"),
            ("x is not null and x < 4", "x < 4"),
            ("x > 5 and x < 3", "false"),
            ("x > 3 and x > 4 and x < 6 and x > 5", "x < 6 and x > 5"),
            ("x > 3 and x < 2", "false"),
        ],
    )
    def test_t1_normalisation(self, written: str, normal: str):
        """P5-T1: Table 1, on reals."""
        assert str(normalise_conjunction(parse(written))) == normal

    def test_t1_on_integers(self):
        """P5-T1: between 5 and 6 there is no integer."""
        written = parse("x > 3 and x > 4 and x < 6 and x > 5")
        assert str(normalise_conjunction(written, schema=INTEGERS)) == "false"
        assert str(normalise_conjunction(parse("x > 3 and x < 4"), schema=INTEGERS)) == "false"
        assert str(normalise_conjunction(parse("x > 3 and x < 4"))) == "x < 4 and x > 3"

    def test_t3_relations(self):
        """P5-T3: intersecting excludes covering."""
        assert relate(parse("x < 2"), parse("x > 0")) == "intersects"
        assert relate(parse("x > 3"), parse("x > 4")) == "covers"
        assert covers(parse("x < 5 and y > 3"), parse("x < 3 and y > 4"))
