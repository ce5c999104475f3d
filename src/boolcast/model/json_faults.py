"""Why a text is not JSON, where the decoder's own reason would mislead."""

import re
from typing import Final

# In order, so that each escape is read whole: a pair, a half of one, and any other.
_ESCAPE: Final = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})"
    rb"|.)",
    re.DOTALL,
)
# A text that ends here may have been cut within a pair.
_CUT: Final = re.compile(rb"(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]{0,2})?)?)?)?")


def fault(error: Exception, data: bytes | str) -> str:
    """What msgspec says of a text that it cannot decode, or that there is a lone surrogate.

    msgspec calls a text truncated where a string ends soon after half a surrogate pair.
    """
    told = str(error)
    if "surrogate" not in told and "truncated" not in told:
        return told
    raw = data.encode(errors="surrogatepass") if isinstance(data, str) else data
    for escape in _ESCAPE.finditer(raw):
        if escape["lone"] is not None and _CUT.fullmatch(raw, escape.end()) is None:
            lone = escape[0].decode()
            return f"{lone} is a lone surrogate, which is not a character (byte {escape.start()})"
    return told
