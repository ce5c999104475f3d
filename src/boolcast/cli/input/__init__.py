"""What commands read: options, files and standard input, subscriptions, Spark sessions.

A `Source` hands out the lines of a file or of standard input in batches and leaves empty lines
out. A line that cannot be read raises an `InputError`; the command reports it with the file's
name and the line's number, and goes on with the next.
"""
