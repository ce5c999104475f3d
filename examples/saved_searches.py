"""Filters that users type: refuse what is wrong, and point out what they hardly meant."""

import boolcast

SCHEMA = boolcast.Schema.from_json("""{
    "attributes": {
        "title": {"kind": "string"},
        "condition": {"kind": "string", "values": ["new", "used"]},
        "price": {"kind": "number", "minimum": 0},
        "listed": {"kind": "timestamp"}
    }
}""")

TYPED = [
    "price < 25 and condition = 'new'",
    "price < 25 and condition == 'new'",
    "prize < 25",
    "listed > '2026-01-31'",
    "price < 25 or price < 15",
    "price < 5 and price > 10",
]

for text in TYPED:
    print(f"> {text}")
    try:
        filter = boolcast.parse(text, schema=SCHEMA)
    except boolcast.errors.FilterError as error:
        print(f"{error}\n")
        continue
    for finding in boolcast.lint(filter, schema=SCHEMA).findings:
        print(f"{finding.code}: {finding.message}")
    print(f"saved as: {boolcast.simplify(filter, schema=SCHEMA).filter}\n")
