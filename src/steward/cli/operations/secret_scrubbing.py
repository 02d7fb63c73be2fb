"""Removes secrets from what leaves the cluster in a support bundle. Pure.

Three nets, each for what the others miss. Fields that hold values of users are masked by their place: environment
variables, payloads of Secrets and ConfigMaps, rendered objects of Tenants, unknown annotations. Texts are searched for
the shapes of secrets. And values of Secrets that the user may read are masked wherever they occur.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from steward.kube.objects.kinds import Manifest
from steward.tenants.labels import FORMER_ROW_VALUES

MASK: Final = "(masked)"
_SHORTEST: Final = 6
"""Shorter values occur by chance in other words."""
_PUBLIC_KEYS: Final = frozenset(
    {"user", "username", "host", "port", "dbname", "database", "namespace", "ca.crt", "tls.crt", "type"}
)
"""Keys of Secrets whose values are names, addresses and certificates, which a report is about."""
_KEPT_ANNOTATIONS: Final = (
    "multigres.com/",
    "restart.multigres.com/",
    "kubernetes-tenants.org/",
    "kubectl.kubernetes.io/restartedAt",
    "deployment.kubernetes.io/",
    "pv.kubernetes.io/",
    "volume.kubernetes.io/",
)
_DROPPED_METADATA: Final = ("managedFields", "selfLink")
_PAYLOADS: Final = ("data", "stringData", "binaryData", "annotations")
"""Fields whose entries users choose, also inside templates."""
_SECRET_NAME: Final = re.compile(
    r"(passw(or)?d|passphrase|token|secret_?key|access_?key|api_?key|private_?key|credentials?|dsn|"
    r"connection_?string)$",
    re.IGNORECASE,
)
_SHAPES: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (
        re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
        MASK,
    ),
    (re.compile(r"\beyJ[\w-]{5,}\.[\w-]+\.[\w-]*"), MASK),
    (re.compile(r"\b(AKIA|ASIA)[0-9A-Z]{16}\b"), MASK),
    (
        re.compile(r"(?i)(--?[\w-]*(?:passw(?:or)?d|passphrase|token|secret|-key)\s+)([^\s-][^\s]*)"),
        rf"\1{MASK}",
    ),
    (re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{6,}"), rf"\1 {MASK}"),
    (re.compile(r"(?i)([a-z][\w+.-]*://[^\s/:@'\"]*):[^\s/@'\"]+@"), rf"\1:{MASK}@"),
    (
        re.compile(
            r"(?i)((?:passw(?:or)?d|passphrase|token|secret|access_?key|api_?key|private_?key)[\w.-]*"
            r"[\"']?\s*[=:]\s*)(\"[^\"]*\"|'[^']*'|[^\s,;&\"']+)"
        ),
        rf"\1{MASK}",
    ),
)

ScrubText = Callable[[str], str]


def secret_values(secrets: Iterable[Manifest]) -> list[str]:
    """The values to mask, the longest first, as the Secrets hold them and decoded."""
    found = {text for secret in secrets for text in _values(secret)}
    return sorted(found, key=lambda text: (-len(text), text))


def _values(secret: Manifest) -> Iterator[str]:
    for name, encoded in (secret.get("data") or {}).items():
        if name.lower() in _PUBLIC_KEYS or not isinstance(encoded, str):
            continue
        try:
            decoded = base64.b64decode(encoded, validate=True).decode().strip()
        except (binascii.Error, ValueError):
            decoded = encoded
        yield from (encoded, decoded) if len(decoded) >= _SHORTEST else ()


def text_scrubber(values: Iterable[str] = ()) -> ScrubText:
    known = "|".join(map(re.escape, values))
    pattern = re.compile(known) if known else None

    def scrub(text: str) -> str:
        if pattern is not None:
            text = pattern.sub(MASK, text)
        for shape, mask in _SHAPES:
            text = shape.sub(mask, text)
        return text

    return scrub


def scrub_object(manifest: Manifest, scrub: ScrubText) -> Manifest:
    """An object of the cluster as it may leave it."""
    kept = {name: value for name, value in manifest.items() if name not in ("metadata", "spec")}
    spec = manifest.get("spec") or {}
    return {
        **_scrubbed_fields(kept, scrub),
        "metadata": _scrub_metadata(manifest.get("metadata") or {}, scrub),
        "spec": _rendered_names(spec) if manifest.get("kind") == "Tenant" else _scrub(spec, scrub),
    }


def _scrub_metadata(meta: Manifest, scrub: ScrubText) -> Manifest:
    kept = {name: value for name, value in meta.items() if name not in _DROPPED_METADATA}
    if notes := kept.get("annotations"):
        kept["annotations"] = {
            name: scrub(str(value)) if _is_kept(name) else MASK for name, value in notes.items()
        }
    return kept


def _is_kept(annotation: str) -> bool:
    return annotation.startswith(_KEPT_ANNOTATIONS) and annotation not in FORMER_ROW_VALUES


def _rendered_names(spec: Manifest) -> Manifest:
    """A Tenant has the rendered values of its row in all of its objects: only their names stay."""
    return {
        name: [
            {field: each.get(field) for field in ("id", "nameTemplate") if field in each} for each in value
        ]
        if isinstance(value, list)
        else value
        for name, value in spec.items()
        if name not in ("values", "renderFailure")
    }


def _scrub(value: Any, scrub: ScrubText) -> Any:
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, list):
        return [
            MASK if _names_secret(before) and isinstance(each, str) else _scrub(each, scrub)
            for before, each in zip([None, *value], value, strict=False)
        ]
    if isinstance(value, dict):
        return _scrubbed_fields(value, scrub)
    return value


def _names_secret(argument: Any) -> bool:
    """Whether it is a flag whose value is the next argument."""
    return (
        isinstance(argument, str)
        and argument.startswith("-")
        and bool(_SECRET_NAME.search(argument.replace("-", "_")))
    )


def _scrubbed_fields(fields: Manifest, scrub: ScrubText) -> Manifest:
    return {name: _scrub_field(name, value, scrub) for name, value in fields.items()}


def _scrub_field(name: str, value: Any, scrub: ScrubText) -> Any:
    if name == "env" and isinstance(value, list):
        return [_scrub_variable(each, scrub) for each in value]
    if name in _PAYLOADS and isinstance(value, dict):
        return dict.fromkeys(value, MASK)
    if isinstance(value, str) and value and _SECRET_NAME.search(name):
        return MASK
    return _scrub(value, scrub)


def _scrub_variable(variable: Any, scrub: ScrubText) -> Any:
    """The name of a variable and where its value comes from stay."""
    if not isinstance(variable, dict):
        return MASK
    return {
        name: MASK if name == "value" and value else _scrub(value, scrub) for name, value in variable.items()
    }
