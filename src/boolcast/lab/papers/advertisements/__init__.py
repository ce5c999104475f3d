"""P3: overlaps between subscriptions and Boolean advertisements, and pruned advertisements.

`overlap` looks up subscriptions among many advertisements, as Boolean trees and as conjunctions.
`pruning` prunes advertisements step by step and looks up a sample of them at each step, alone or
after some of the subscriptions' prunings.
"""
