"""Entitlements: may this customer subscribe to that? If not, show an event that is off limits."""

import boolcast

GRANTS = {
    "Rhine Traders": "region in ('DE', 'FR', 'IT') and amount < 100000",
    "Spree Retail": "region = 'DE' and amount between 0 and 50000",
    "Auditors": "amount >= 100000 or flagged = true",
}
REQUESTS = [
    ("Rhine Traders", "region = 'FR' and amount < 20000"),
    ("Rhine Traders", "region = 'FR' and amount < 250000"),
    ("Spree Retail", "starts_with(region, 'D') and amount between 10 and 20"),
    ("Auditors", "region = 'DE' and flagged = true"),
]

for customer, request in REQUESTS:
    print(f"{customer} asks for: {request}")
    grant, wanted = boolcast.parse(GRANTS[customer]), boolcast.parse(request)
    verdict = boolcast.covers(grant, wanted)
    if verdict:
        print("  allowed\n")
    elif verdict.witness is not None:
        print(f"  refused: it would show them {dict(verdict.witness)}")
        print(f"  allowed instead: {boolcast.simplify(grant & wanted)}\n")
    else:
        print("  refused: no proof that the grant covers it\n")
