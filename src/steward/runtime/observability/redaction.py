"""Redacts secrets from log lines and events.

This is the last line of defence: code passes no secrets to a logger. But an error message may quote a server, a
database driver or a URL, so every line is redacted. A rule may hide too much; it must not hide too little.
"""

from __future__ import annotations

import re
from typing import Any

MASK = "[redacted]"

_SECRET_FIELDS = frozenset({"data", "stringData"})
_SECRET_WORDS = re.compile(
    r"authorization|token$|password|passwd|secret$|private[-_]?key|api[-_]?key|client[-_]?key|credential",
    re.IGNORECASE,
)

_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?is)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|\Z)"), MASK),
    (
        re.compile(r"(?i)\b(authorization['\"]?\s*[:=]\s*['\"]?)(?:(?:bearer|basic)\s+)?[^\s'\",}]+"),
        rf"\1{MASK}",
    ),
    (re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}"), rf"\1 {MASK}"),
    (re.compile(r"\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}\.?[A-Za-z0-9_-]*"), MASK),
    (re.compile(r"(?i)\b([a-z][a-z0-9+.-]*://[^\s/:@'\"]*):[^\s/@'\"]+@"), rf"\1:{MASK}@"),
    (
        re.compile(
            r"(?i)(\b[a-z0-9_-]*(?:password|passwd|token|api[-_]?key|client[-_]key[-_]data|secret[-_]?key)['\"]?"
            r"\s*[:=]\s*)(\"[^\"]*\"|'[^']*'|[^\s'\",;&}\[]+)"
        ),
        rf"\1{MASK}",
    ),
)
_SECRET_OBJECT = re.compile(r"""['"]kind['"]\s*:\s*['"]Secret['"]""")
_SECRET_PAYLOAD = re.compile(r"""(['"](?:data|stringData)['"]\s*:\s*)\{[^{}]*\}""")

# One cheap search decides whether any pattern can match at all: most lines contain none of these words.
_SUSPECT = re.compile(
    r"(?i)private key|authorization|bearer|basic|eyJ|://|passw|token|api[-_]?key|key[-_]data|secret"
)


def redact_text(text: str) -> str:
    if _SUSPECT.search(text) is None:
        return text
    for pattern, instead in _PATTERNS:
        text = pattern.sub(instead, text)
    if _SECRET_OBJECT.search(text):
        text = _SECRET_PAYLOAD.sub(rf"\1{{{MASK}}}", text)
    return text


def redact(value: Any) -> Any:
    """The value without payloads of Secrets, fields with names such as `password`, and tokens in strings."""
    if isinstance(value, dict):
        return _redact_mapping(value)
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return type(value)(redact(item) for item in value)
    if isinstance(value, bytes):
        return redact_text(value.decode("utf-8", "replace"))
    return redact_text(value) if isinstance(value, str) else value


def _redact_mapping(value: dict[Any, Any]) -> dict[Any, Any]:
    hidden = _SECRET_FIELDS if value.get("kind") == "Secret" else frozenset()
    return {
        name: MASK if name in hidden or _names_a_secret(name, content) else redact(content)
        for name, content in value.items()
    }


def _names_a_secret(name: Any, content: Any) -> bool:
    # A mapping under such a name (a `secret:` volume, say) is redacted field by field instead of as a whole.
    return isinstance(name, str) and isinstance(content, str | bytes) and bool(_SECRET_WORDS.search(name))
