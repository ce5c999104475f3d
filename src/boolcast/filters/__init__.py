"""The filter language: tree, text, JSON form and meaning.

`expressions` is the tree, `parsing` (over `scanning`) and `printing` go between it and text,
`encoding` between it and JSON. `evaluation` is the reference semantics, `explanation` shows
it at work on one event. `negation` brings a filter into negation normal form, `canonical`
gives equal predicates one text. `patterns` and `regexes` match strings.
"""
