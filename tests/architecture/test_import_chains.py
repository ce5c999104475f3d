"""No module imports itself through others, and no chain of imports is long.

Whoever reads a module has to know what it stands on. A chain is what they may have to follow.
"""

from functools import cache
from graphlib import CycleError, TopologicalSorter

import grimp
import pytest

LONGEST = 25


def imports() -> dict[str, list[str]]:
    """What each module imports when it runs: not what only its annotations name."""
    graph = grimp.build_graph("boolcast", exclude_type_checking_imports=True)
    return {
        module: sorted(graph.find_modules_directly_imported_by(module)) for module in graph.modules
    }


def longest_chain(graph: dict[str, list[str]]) -> list[str]:
    TopologicalSorter(graph).prepare()

    @cache
    def chain(module: str) -> list[str]:
        return [module, *max(map(chain, graph[module]), key=len, default=[])]

    return max(map(chain, sorted(graph)), key=len)


def test_no_cycle_and_no_long_chain():
    chain = longest_chain(imports())
    assert len(chain) <= LONGEST, "\n".join(chain)


def test_a_cycle_and_a_long_chain_are_found():
    line = {str(number): [str(number + 1)] for number in range(30)} | {"30": []}
    assert len(longest_chain(line)) == 31
    with pytest.raises(CycleError):
        longest_chain(line | {"30": ["0"]})
