"""What commands write, and how they end.

Results go to standard output, as text, tables or JSON lines; errors, summaries and progress go to
standard error. Colours and bars appear on terminals only. A command whose output is no longer
read ends silently.
"""
