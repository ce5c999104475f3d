"""What a user writes with filters: `test_user_types` checks it by `mypy --strict`.

It uses the result of `parse` wherever the product takes a filter, without a cast.
"""

import boolcast
from boolcast.filters.encoding import decode, encode
from boolcast.matching.diagrams.diagrams import Diagrams
from boolcast.matching.relations.overlap_index import OverlapIndex
from boolcast.model.identifiers import ClientId, SubscriptionId
from boolcast.model.statistics import Statistics
from boolcast.optimising.merging.mergers import merged
from boolcast.optimising.pruning.pre_pruning import pre_prune
from boolcast.optimising.statistics.selectivities import Selectivities
from boolcast.routing.protocol.stimuli import ClientAdvertises, ClientSubscribes

cheap = boolcast.parse("price < 25")
cheaper: boolcast.Filter = boolcast.parse("price < 20")


def described(filter: boolcast.Filter) -> str:
    """The type is public, in annotations and in `isinstance`."""
    return f"{filter} on {sorted(filter.attributes())}: {[str(p) for p in filter.predicates()]}"


def is_filter(given: object) -> bool:
    """A plain check at the edge of a program."""
    return isinstance(given, boolcast.Filter) and given.accepts({"price": 21})


def proofs() -> list[boolcast.Verdict]:
    """Each kind of filter that a caller may hold."""
    simple = boolcast.simplify(cheap & cheaper)
    return [
        boolcast.covers(cheap, cheaper),
        boolcast.covers(cheap, "price < 20"),
        boolcast.overlaps(simple, cheap | "title = 'Emma'"),
        boolcast.equivalent(simple.filter, cheaper),
        boolcast.disjoint(~cheap, simple),
    ]


def shown() -> list[str]:
    """What is said of one filter."""
    event = {"price": 21}
    explained = boolcast.explain(cheap, event)
    findings = boolcast.lint(cheap & cheaper).findings
    return [str(explained), *(finding.message for finding in findings), described(cheap)]


def matched() -> list[str]:
    """Filters in a matcher and in the indexes."""
    matcher = boolcast.Matcher()
    matcher.add("cheap", cheap)
    matcher.add("cheaper", "price < 20")
    index = OverlapIndex()
    index.add("cheap", cheap)
    diagrams = Diagrams()
    diagrams.add("cheap", cheap)
    names = [*index.all(cheaper).names, *diagrams.covering(cheaper).covers]
    return [*matcher.match({"price": 21}), *names]


def rewritten() -> list[boolcast.Filter]:
    """Filters through the optimisers and the wire."""
    known = Selectivities(Statistics(events=100))
    both = {SubscriptionId("a"): cheap, SubscriptionId("b"): cheaper}
    merger = merged(SubscriptionId("m"), both, known)
    return [pre_prune(cheap & cheaper, known), merger.filter, decode(encode(cheap))]


def routed() -> list[ClientSubscribes | ClientAdvertises]:
    """What a client tells its broker."""
    ada = ClientId("ada")
    return [ClientSubscribes(ada, "cheap", cheap), ClientAdvertises(ada, "all", cheap | cheaper)]
