"""`boolcast reproduce`: the experiments of four papers, run again and compared with their figures.

Every paper is a package with the same plan. `run` maps the names of its experiments to lists of
runs and carries out one run. `checks` compares the figures with the paper's statements. `report`
shows figures as tables and rows and describes the whole paper as one `Reproduction`. `plots` draws
one plot for each experiment. Papers do not import each other.

The rest is shared. `runs` chooses runs, keeps the figures of each in a folder, and carries out
only those that are missing: in processes, or as tasks of a Spark job (`spark_runner`). Seeds make
every run repeatable. `reproduction` writes tables or JSON, `figures.json`, Parquet files, plots
(`plotting`) and the list of checks; the command fails if a check does not hold.
"""
