"""Standing filters in a process: which alerts does each event set off?"""

import boolcast

ALERTS = {
    "bargain": "price < 10 and condition = 'new'",
    "collector": "special in ('signed', 'first edition') and not (price > 500)",
    "last-minute": "ending <= 1 and bids = 0 and starts_with(title, 'Harry Potter')",
    "reserve-met": "bid >= reserve",
}
EVENTS = [
    {"title": "Dune", "condition": "new", "price": 8.5},
    {"title": "Harry Potter and the Goblet of Fire", "ending": 1, "bids": 0, "price": 24},
    {"title": "Emma", "special": "signed", "price": 120, "bid": 95, "reserve": 90},
    {"title": "Ulysses", "special": "signed", "price": 4_000},
]

filters = {name: boolcast.parse(text) for name, text in ALERTS.items()}

for event in EVENTS:
    names = [name for name, filter in filters.items() if filter.accepts(event)]
    print(f"{event['title']}: {', '.join(names) or 'nobody'}")

print()
print("Why not the collector, in the last one?")
print(boolcast.explain(filters["collector"], EVENTS[-1]))
