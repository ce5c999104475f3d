"""What a Python user could take instead of Boolcast for class 1 of the auction.

All alternatives have an advantage over an engine for arbitrary filters: they get the constants
as columns, where the engine parses texts, and they know the shape of the filters beforehand:

    title = ? and ending < ? and (condition = 'new' and price < ? or condition = 'used' and …)

An alternative loads a table with the columns `subscription`, `title`, `ending`, `new` and
`used`. For a table of events, it returns the same matches as the engines: an Arrow table with the
columns `event` and `subscription`. The benchmark checks that they agree.
"""

from collections.abc import Callable, Mapping
from typing import Final

from boolcast.lab.benchmarks.choices import AlternativeName
from boolcast.lab.benchmarks.match.alternatives.by_duckdb import DuckDB
from boolcast.lab.benchmarks.match.alternatives.by_lambdas import Lambdas
from boolcast.lab.benchmarks.match.alternatives.by_numpy import NumPy
from boolcast.lab.benchmarks.match.alternatives.by_polars import Polars
from boolcast.lab.benchmarks.match.alternatives.by_rule_engine import RuleEngine
from boolcast.lab.benchmarks.match.alternatives.protocol import Alternative

ALTERNATIVES: Final[Mapping[AlternativeName, Callable[[], Alternative]]] = {
    AlternativeName.DUCKDB: DuckDB,
    AlternativeName.POLARS: Polars,
    AlternativeName.NUMPY: NumPy,
    AlternativeName.LAMBDAS: Lambdas,
    AlternativeName.RULE_ENGINE: RuleEngine,
}
"""Creating one raises ImportError if its package is missing."""
