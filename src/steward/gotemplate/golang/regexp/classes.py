"""Character classes and escapes of Go's regexp/syntax, read with Go's errors and written for RE2's engine."""

from __future__ import annotations

import re
from functools import lru_cache

from steward.gotemplate.errors import GoError


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


_POSIX = re.compile(r"\[:.*?:\]", re.DOTALL)
_POSIX_NAMES = _set("alnum alpha ascii blank cntrl digit graph lower print punct space upper word xdigit")
_PERL = frozenset("dDsSwW")
_NAMED_RUNES = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_HEX = frozenset("0123456789abcdefABCDEF")
_CATEGORIES = _set(
    "C Cc Cf Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs"
)
# Go looks a script up under a name without underscores, so scripts of two words are never found: they are left out.
_SCRIPTS = _set(
    """
    Adlam Ahom Arabic Armenian Avestan Balinese Bamum Batak Bengali Bhaiksuki Bopomofo Brahmi Braille
    Buginese Buhid Carian Chakma Cham Cherokee Chorasmian Common Coptic Cuneiform Cypriot Cyrillic Deseret
    Devanagari Dogra Duployan Elbasan Elymaic Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati
    Gurmukhi Han Hangul Hanunoo Hatran Hebrew Hiragana Inherited Javanese Kaithi Kannada Katakana Kawi
    Kharoshthi Khmer Khojki Khudawadi Lao Latin Lepcha Limbu Lisu Lycian Lydian Mahajani Makasar Malayalam
    Mandaic Manichaean Marchen Medefaidrin Miao Modi Mongolian Mro Multani Myanmar Nabataean Nandinagari
    Newa Nko Nushu Ogham Oriya Osage Osmanya Palmyrene Phoenician Rejang Runic Samaritan Saurashtra Sharada
    Shavian Siddham Sinhala Sogdian Soyombo Sundanese Syriac Tagalog Tagbanwa Takri Tamil Tangsa Tangut
    Telugu Thaana Thai Tibetan Tifinagh Tirhuta Toto Ugaritic Vai Vithkuqi Wancho Yezidi Yi
    """
)
_ALIASES = {
    "Casedletter": "LC",
    "Closepunctuation": "Pe",
    "Combiningmark": "M",
    "Connectorpunctuation": "Pc",
    "Control": "Cc",
    "Currencysymbol": "Sc",
    "Dashpunctuation": "Pd",
    "Decimalnumber": "Nd",
    "Enclosingmark": "Me",
    "Finalpunctuation": "Pf",
    "Format": "Cf",
    "Initialpunctuation": "Pi",
    "Letter": "L",
    "Letternumber": "Nl",
    "Lineseparator": "Zl",
    "Lowercaseletter": "Ll",
    "Mark": "M",
    "Mathsymbol": "Sm",
    "Modifierletter": "Lm",
    "Modifiersymbol": "Sk",
    "Nonspacingmark": "Mn",
    "Number": "N",
    "Openpunctuation": "Ps",
    "Other": "C",
    "Otherletter": "Lo",
    "Othernumber": "No",
    "Otherpunctuation": "Po",
    "Othersymbol": "So",
    "Paragraphseparator": "Zp",
    "Privateuse": "Co",
    "Punctuation": "P",
    "Separator": "Z",
    "Spaceseparator": "Zs",
    "Spacingmark": "Mc",
    "Surrogate": "Cs",
    "Symbol": "S",
    "Titlecaseletter": "Lt",
    "Unassigned": "Cn",
    "Uppercaseletter": "Lu",
    "Cntrl": "Cc",
    "Digit": "Nd",
    "Punct": "P",
}
_REST = r"\p{M}\p{N}\p{P}\p{S}\p{Z}\p{Cc}\p{Cf}\p{Co}\p{Cs}"
_ASSIGNED = r"\p{L}" + _REST


def regexp_error(why: str, where: str) -> GoError:
    return GoError(f"error parsing regexp: {why}: `{where}`")


def plain_rune(rune: int) -> str:
    """One character, safe anywhere in a pattern."""
    char = chr(rune)
    return char if char.isascii() and char.isalnum() else f"\\x{{{rune:X}}}"


def escaped_rune(pattern: str, start: int) -> tuple[int, int]:
    """Reads the escape of a single character at the backslash; gives it and the place after."""
    if start + 1 >= len(pattern):
        raise regexp_error("trailing backslash at end of expression", "")
    char = checked(pattern, start + 1)
    at = start + 2
    if char in "01234567":
        if char == "0" or pattern[at : at + 1] in tuple("01234567"):
            digits = re.compile("[0-7]{1,3}").match(pattern, start + 1).group()  # type: ignore[union-attr]
            return int(digits, 8), start + 1 + len(digits)
    elif char == "x":
        return _hex_rune(pattern, start)
    elif char in _NAMED_RUNES:
        return _NAMED_RUNES[char], at
    elif char.isascii() and not char.isalnum():
        return ord(char), at
    raise regexp_error("invalid escape sequence", pattern[start:at])


def checked(pattern: str, at: int) -> str:
    """The character at a place, which must be UTF-8; past the end Go reads U+FFFD."""
    char = pattern[at : at + 1] or "\ufffd"
    if "\udc80" <= char <= "\udcff":
        raise regexp_error("invalid UTF-8", pattern[at:])
    return char


def _hex_rune(pattern: str, start: int) -> tuple[int, int]:
    at = start + 2
    if at >= len(pattern):
        raise regexp_error("invalid escape sequence", pattern[start:at])
    if checked(pattern, at) == "{":
        return _braced_hex(pattern, start)
    high, low = pattern[at], checked(pattern, at + 1)
    if high not in _HEX or low not in _HEX:
        raise regexp_error("invalid escape sequence", pattern[start : at + 2])
    return int(high + low, 16), at + 2


def _braced_hex(pattern: str, start: int) -> tuple[int, int]:
    at, rune = start + 3, 0
    while at < len(pattern):
        char = checked(pattern, at)
        at += 1
        if char == "}" and at > start + 4:
            return rune, at
        rune = rune * 16 + int(char, 16) if char in _HEX else 0x110000
        if rune > 0x10FFFF:
            break
    raise regexp_error("invalid escape sequence", pattern[start:at])


def class_escape(pattern: str, start: int) -> tuple[str, int] | None:
    r"""Reads `\d`, `\pL` and the like; gives their text inside brackets and the place after."""
    kind = pattern[start + 1 : start + 2]
    if kind and kind in _PERL:
        return "\\" + kind, start + 2
    if kind and kind in "pP":
        return _unicode_class(pattern, start, kind == "P")
    return None


def _unicode_class(pattern: str, start: int, negated: bool) -> tuple[str, int]:
    end = start + 3
    name = checked(pattern, start + 2)
    if name == "{":
        close = pattern.find("}", start)
        if close < 0:
            check_utf8(pattern[start:])
            raise regexp_error("invalid character class range", pattern[start:])
        name, end = pattern[start + 3 : close], close + 1
        check_utf8(name)
    text = _unicode_text(name.removeprefix("^"), negated != name.startswith("^"))
    if text is None:
        raise regexp_error("invalid character class range", pattern[start:end])
    return text, end


def check_utf8(text: str) -> None:
    for at in range(len(text)):
        checked(text, at)


def _unicode_text(written: str, negated: bool) -> str | None:
    name = _canonical(written)
    name = _ALIASES.get(name, name)
    if name in _CATEGORIES or name in _SCRIPTS or name == "Any":
        return f"\\{'P' if negated else 'p'}{{{name}}}"
    if name in ("Cn", "Assigned"):
        return _unassigned() if (name == "Cn") != negated else _ASSIGNED
    if name == "Ascii":
        return r"\x{80}-\x{10FFFF}" if negated else r"\x{0}-\x{7F}"
    if name in ("LC", "Lc"):
        return rf"\p{{Lm}}\p{{Lo}}{_REST}{_unassigned()}" if negated else r"\p{Lu}\p{Ll}\p{Lt}"
    return None


@lru_cache(maxsize=1)
def _unassigned() -> str:
    # RE2 has no name for these, and no class inside a class, so they are spelled out.
    from unicodedata import category

    starts: list[tuple[int, int]] = []
    for code in range(0x110000):
        if category(chr(code)) == "Cn":
            if starts and starts[-1][1] == code - 1:
                starts[-1] = (starts[-1][0], code)
            else:
                starts.append((code, code))
    return "".join(f"\\x{{{low:X}}}-\\x{{{high:X}}}" for low, high in starts)


def _canonical(name: str) -> str:
    letters = re.sub("[_ -]", "", name)
    return letters[:1].upper() + letters[1:].lower() if letters.isascii() else letters


def bracket_class(pattern: str, start: int) -> tuple[str, int]:
    """Reads `[...]`; gives it in the engine's words and the place after."""
    at = start + 1
    negated = pattern.startswith("^", at)
    at += negated
    items: list[str] = []
    first = True
    while first or not pattern.startswith("]", at):
        first = False
        item, at = _class_item(pattern, start, at)
        items.append(item)
    return f"[{'^' if negated else ''}{''.join(items)}]", at + 1


def _class_item(pattern: str, start: int, at: int) -> tuple[str, int]:
    found = _POSIX.match(pattern, at) if pattern.startswith("[:", at) else None
    if found is not None:
        if found.group()[2:-2].removeprefix("^") not in _POSIX_NAMES:
            raise regexp_error("invalid character class range", found.group())
        return found.group(), found.end()
    escape = class_escape(pattern, at) if pattern.startswith("\\", at) else None
    if escape is not None:
        return escape
    return _class_range(pattern, start, at)


def _class_range(pattern: str, start: int, at: int) -> tuple[str, int]:
    low, end = _class_rune(pattern, start, at)
    high = low
    if pattern.startswith("-", end) and pattern[end + 1 : end + 2] not in ("", "]"):
        high, end = _class_rune(pattern, start, end + 1)
        if high < low:
            raise regexp_error("invalid character class range", pattern[at:end])
    return plain_rune(low) + (f"-{plain_rune(high)}" if high != low else ""), end


def _class_rune(pattern: str, start: int, at: int) -> tuple[int, int]:
    if at >= len(pattern):
        raise regexp_error("missing closing ]", pattern[start:])
    if pattern[at] == "\\":
        return escaped_rune(pattern, at)
    return ord(checked(pattern, at)), at + 1
