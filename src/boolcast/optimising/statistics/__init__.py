"""How many events will satisfy a predicate, a filter, or a set of values?

In come `model.statistics`, counted by the counting engine or by Spark. `Selectivities` turns them
into the share of events that satisfies each predicate: counted, read off the distribution of values
(`value_bins`), interpolated between similar predicates, or guessed. It reports which. `estimates`
combines the shares of predicates into those of whole filters, as a minimum, an average and a
maximum. `probabilities` answers for sets of values, which merging needs.

Wrong statistics lead to poor choices, never to lost events.
"""
