"""The filter language: tree, text, JSON form and meaning.

`expressions` is the tree, `parsing` (over `scanning`) and `printing` go between it and text,
`encoding` between it and JSON. `evaluation` is the reference semantics, `explanation` shows
it at work on one event. `negation` brings a filter into negation normal form, `canonical`
gives equal predicates one text. `patterns` and `regexes` match strings.
"""

from boolcast.filters import expressions
from boolcast.filters.evaluation import accepts
from boolcast.filters.parsing import parse
from boolcast.filters.printing import to_text

expressions.connect(expressions.Functions(accepts, to_text, parse))
