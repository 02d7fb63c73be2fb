"""Texts of database servers for statuses and events: short, printable, and without the password. Pure.

A server chooses the text of its errors. A hostile one could send megabytes, control characters, or the password that
it was given.
"""

from typing import Final

MAX_LENGTH: Final = 200
SHORTEST_MASKED: Final = 4
"""Masking a shorter secret would show it by the letters that are missing."""
_MASK: Final = "***"


def clean_text(text: str, secret: str = "") -> str:
    """One line of at most 200 characters; every occurrence of the secret is masked before the text is cut."""
    masked = text.replace(secret, _MASK) if len(secret) >= SHORTEST_MASKED else text
    printable = "".join(letter if letter.isprintable() else " " for letter in masked[: 4 * MAX_LENGTH])
    line = " ".join(printable.split())
    return line if len(line) <= MAX_LENGTH else f"{line[:MAX_LENGTH]}…"
