"""The exit codes, the same for all commands, so that scripts can rely on them."""

from enum import IntEnum


class ExitCode(IntEnum):
    """What a command tells the shell; `--help` says what each means for the command."""

    FINE = 0
    RESERVATIONS = 1
    """It ran, and the answer is no, or not all is well: findings, refused, lines left out."""
    BAD_INPUT = 2
    """The input or the usage is wrong."""
    INTERRUPTED = 130
    """Ctrl-C: 128 and SIGINT."""
    BROKEN_PIPE = 141
    """The reader of the output went away: 128 and SIGPIPE, as of other tools."""
    TERMINATED = 143
    """128 and SIGTERM."""
