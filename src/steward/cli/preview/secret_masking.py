"""Hides the values of Secrets in everything that a preview prints. Pure.

A Secret can appear as an object, inside a template that creates it, and in a copy that a client keeps in an annotation.
Error messages of the API server can quote a value that has the wrong type.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator
from typing import Any, Final

from steward.kube.objects.kinds import Manifest

KEPT: Final = "(as it is)"
OTHER: Final = "(another value)"
HIDDEN: Final = "(hidden)"
_PAYLOADS: Final = ("data", "stringData")
_SHORT: Final = 4
"""Shorter values are hidden only as whole words: they occur by chance inside other words of a message."""

_KnownValues = frozenset[tuple[str, str]]


def mask_secrets(before: Manifest, after: Manifest) -> tuple[Manifest, Manifest]:
    """Both manifests without values; the second shows which of them would be others."""
    known = frozenset(_payload_values(before))
    return _mask(before, known), _mask(after, known)


def mask_message(message: str, manifest: Manifest | None) -> str:
    """The message without the values of Secrets in the manifest that it is about."""
    texts = {text for _, value in _payload_values(manifest or {}) for text in _spellings(value) if text}
    for text in sorted(texts, key=len, reverse=True):
        pattern = re.escape(text) if len(text) >= _SHORT else rf"(?<!\w){re.escape(text)}(?!\w)"
        message = re.sub(pattern, HIDDEN, message)
    return message


def _spellings(value: str) -> Iterator[str]:
    yield value
    yield json.dumps(value)[1:-1]
    try:
        yield base64.b64decode(value, validate=True).decode()
    except (binascii.Error, ValueError):
        return


def _secret_parts(manifest: Any, *, is_secret: bool = False) -> Iterator[Manifest]:
    """Every Secret in the manifest: the object itself, or one that a template creates."""
    if isinstance(manifest, list):
        for item in manifest:
            yield from _secret_parts(item)
    if not isinstance(manifest, dict):
        return
    if is_secret or manifest.get("kind") == "Secret":
        yield manifest
        return
    for name, value in manifest.items():
        if name == "secrets" and isinstance(value, list):
            for item in value:
                yield from _secret_parts(_template_body(item), is_secret=True)
        else:
            yield from _secret_parts(value)


def _template_body(item: Any) -> Any:
    return item.get("spec") if isinstance(item, dict) else None


def _payload_values(manifest: Manifest) -> Iterator[tuple[str, str]]:
    for secret in _secret_parts(manifest):
        for payload in _PAYLOADS:
            yield from _leaves(payload, secret.get(payload))


def _leaves(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _leaves(str(key), each)
    elif isinstance(value, list):
        for each in value:
            yield from _leaves(name, each)
    elif value is not None:
        yield name, str(value)


def _mask(manifest: Any, known: _KnownValues, *, is_secret: bool = False) -> Any:
    if isinstance(manifest, list):
        return [_mask(item, known) for item in manifest]
    if not isinstance(manifest, dict):
        return manifest
    if is_secret or manifest.get("kind") == "Secret":
        return {name: _mask_field(name, value, known) for name, value in manifest.items()}
    return {name: _mask_child(name, value, known) for name, value in manifest.items()}


def _mask_child(name: str, value: Any, known: _KnownValues) -> Any:
    if name != "secrets" or not isinstance(value, list):
        return _mask(value, known)
    return [
        {**item, "spec": _mask(item.get("spec"), known, is_secret=True)} if isinstance(item, dict) else item
        for item in value
    ]


def _mask_field(name: str, value: Any, known: _KnownValues) -> Any:
    if name in _PAYLOADS:
        return _mask_payload(name, value, known)
    if name == "metadata" and isinstance(value, dict) and value.get("annotations"):
        # Clients keep copies of the object in annotations of their own; no list of their names is complete.
        return {**value, "annotations": dict.fromkeys(value["annotations"], HIDDEN)}
    return value


def _mask_payload(name: str, value: Any, known: _KnownValues) -> Any:
    if isinstance(value, dict):
        return {key: _mask_payload(str(key), each, known) for key, each in value.items()}
    if isinstance(value, list):
        return [_mask_payload(name, each, known) for each in value]
    return value if value is None else KEPT if (name, str(value)) in known else OTHER
