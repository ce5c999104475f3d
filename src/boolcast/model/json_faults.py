"""Why a text is not JSON, where the decoder's own message would mislead."""

import re
from typing import Final

# In order, so that each escape is read whole: a pair, a half of one, and any other.
_ESCAPE: Final = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})"
    rb"|.)",
    re.DOTALL,
)
# A text that ends here may have been truncated within a pair.
_TRUNCATED: Final = re.compile(rb"(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]{0,2})?)?)?)?")
# As msgspec says it.
_WRONG_ID: Final = re.compile(r"Expected `int \| str`, got `(\w+)` - at `\$\.subscription`")


def fault(error: Exception, data: bytes | str) -> str:
    """The message of msgspec for a text that it cannot decode, or that of a lone surrogate.

    msgspec calls a text truncated where a string ends soon after half a surrogate pair.
    """
    message = str(error)
    if "surrogate" not in message and "truncated" not in message:
        return message
    raw = data.encode(errors="surrogatepass") if isinstance(data, str) else data
    for escape in _ESCAPE.finditer(raw):
        if escape["lone"] is not None and _TRUNCATED.fullmatch(raw, escape.end()) is None:
            lone = escape[0].decode()
            return f"{lone} is a lone surrogate, which is not a character (byte {escape.start()})"
    return message


def subscription_fault(error: Exception, data: bytes) -> str:
    """Why a line is not a subscription as JSON."""
    if wrong := _WRONG_ID.fullmatch(str(error)):
        return f"`subscription` must be a string or an integer, not {wrong[1]}"
    return f"the JSON cannot be read: {fault(error, data)}"
