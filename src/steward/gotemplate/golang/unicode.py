"""Go's unicode package: one rune to one rune (no full case mappings), and its classes."""

from unicodedata import category

SPACES = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_SPACE_SET = frozenset(SPACES)


def is_space(char: str) -> bool:
    """The White_Space property; Python's isspace also takes U+001C to U+001F."""
    return char in _SPACE_SET


def is_upper(char: str) -> bool:
    return category(char) == "Lu"


def is_lower(char: str) -> bool:
    return category(char) == "Ll"


def is_title(char: str) -> bool:
    return category(char) == "Lt"


def is_letter(char: str) -> bool:
    return category(char)[0] == "L"


def is_digit(char: str) -> bool:
    return category(char) == "Nd"


def is_number(char: str) -> bool:
    return category(char)[0] == "N"


def is_punct(char: str) -> bool:
    return category(char)[0] == "P"


def upper_rune(char: str) -> str:
    """Simple upper case; where Python's has several runes, the title form is the simple one if it is a single rune."""
    upper = char.upper()
    return upper if len(upper) == 1 else title_rune(char)


def title_rune(char: str) -> str:
    title = char.title()
    return title if len(title) == 1 else char


def lower_rune(char: str) -> str:
    lower = char.lower()
    return lower if len(lower) == 1 else lower[0]


def upper(text: str) -> str:
    """The whole text in simple upper case."""
    upper_text = text.upper()
    if len(upper_text) == len(text):
        return upper_text
    return "".join(map(upper_rune, text))


def lower(text: str) -> str:
    """The whole text in simple lower case: no final sigma, and U+0130 becomes a plain i."""
    if "\u03a3" in text or "\u0130" in text:
        return "".join(map(lower_rune, text))
    return text.lower()
