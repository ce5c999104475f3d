"""Proofs about filters: which grants are superfluous, and what does a request ask beyond them?"""

import boolcast

GRANTS = {
    "sales-emea": "region in ('DE', 'FR', 'IT') and amount < 100000",
    "sales-germany": "region = 'DE' and amount between 0 and 50000",
    "audit": "amount >= 100000",
}
REQUEST = "region = 'FR' and amount < 250000"

grants = {name: boolcast.parse(text) for name, text in GRANTS.items()}
request = boolcast.parse(REQUEST)

for name, grant in grants.items():
    for other, wider in grants.items():
        if other != name and boolcast.covers(wider, grant):
            print(f"{name} is superfluous: {other} allows all of it")

print(f"\n{REQUEST}")
for name, grant in grants.items():
    shared = boolcast.overlaps(grant, request)
    common = f"shares {dict(shared.witness)}" if shared.witness is not None else "nothing in common"
    print(f"  {name}: {common}")

# The request is allowed if all grants together cover it; if not, the witness shows a gap.
everything = grants["sales-emea"] | grants["sales-germany"] | grants["audit"]
print("  allowed" if boolcast.covers(everything, request) else "  refused")

without_audit = boolcast.covers(grants["sales-emea"], request)
assert without_audit.witness is not None
print(f"  without audit refused, because of {dict(without_audit.witness)}")
