"""The filter language: from text or JSON to a tree, and from a tree and an event to an answer.

A filter comes in as text (`parsing`) or JSON (`encoding`). Both check the limits against
hostile input before they do the work, and raise an error that knows the position and a hint.
What comes out is a frozen tree of AND, OR and NOT over predicates (`expressions`), equal and
hashable by value. It prints as it was written (`printing`), and `parse(str(filter)) == filter`.

`evaluation` is the reference semantics: a predicate is true, false, or unknown where the
attribute is missing or of another kind, and a filter accepts an event only if it is true.
Every engine is tested against it. `canonical` rewrites filters to one shape, which engines
and proofs rely on.

The methods of a filter (`accepts`, `str`, `&` with a text) need functions that take filters
apart, and those need the filter's classes. This package connects the two below.
"""

from boolcast.filters import expressions
from boolcast.filters.evaluation import accepts
from boolcast.filters.parsing import parse
from boolcast.filters.printing import to_text

expressions.connect(expressions.Functions(accepts, to_text, parse))
