"""What else a Python user could take for class 1 of the auction, one module each.

All are given the constants as columns, which an engine for arbitrary filters has to find in
the texts, and know the shape of the filters beforehand:

    title = ? and ending < ? and (condition = 'new' and price < ? or condition = 'used' and …)

A rival loads a table with the columns `subscription`, `title`, `ending`, `new` and `used`, and
gives the matches of a table of events as the engines do: Arrow, with the columns `event` and
`subscription`.
"""

from collections.abc import Callable, Mapping
from typing import Final

from boolcast.lab.benchmarks.choices import RivalName
from boolcast.lab.benchmarks.match.rivals.by_duckdb import DuckDB
from boolcast.lab.benchmarks.match.rivals.by_lambdas import Lambdas
from boolcast.lab.benchmarks.match.rivals.by_numpy import NumPy
from boolcast.lab.benchmarks.match.rivals.by_polars import Polars
from boolcast.lab.benchmarks.match.rivals.by_rule_engine import RuleEngine
from boolcast.lab.benchmarks.match.rivals.protocol import Rival

RIVALS: Final[Mapping[RivalName, Callable[[], Rival]]] = {
    RivalName.DUCKDB: DuckDB,
    RivalName.POLARS: Polars,
    RivalName.NUMPY: NumPy,
    RivalName.LAMBDAS: Lambdas,
    RivalName.RULE_ENGINE: RuleEngine,
}
"""Making one raises ImportError where its package is missing."""
