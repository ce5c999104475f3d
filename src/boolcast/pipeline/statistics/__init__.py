"""What history says about filters, and a test of filters on history.

`write_statistics` reads events to count the values of each attribute (`distributions`), reads the
subscriptions to find their predicates and attributes (`profiles`), and lets the match engine
count how many events satisfy each predicate (`selectivities`). The results are Parquet tables
that `reading` loads without Spark. `build_index` uses them to index each filter under a condition
that few events satisfy. `backtest` does all of it in one go and reports what each filter matched
and costs.

Invariant: nothing that grows with events or subscriptions is collected on the driver.
"""
