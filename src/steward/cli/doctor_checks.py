"""What `steward doctor` looks at, from facts that were read to findings with their cures. Pure."""

from __future__ import annotations

import base64
import binascii
import datetime
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, Final, NamedTuple

from steward.kube.objects.kinds import Manifest

OLDEST: Final = (1, 30)
_REGISTER: Final = "steward install --apply, unless webhooks are off on purpose"
SOON: Final = datetime.timedelta(days=7)


class Grade(Enum):
    FINE = "✓"
    WARNING = "!"
    BROKEN = "✗"
    UNKNOWN = "?"


class Examined(NamedTuple):
    """Which operator, and where it is."""

    name: str
    namespace: str

    @property
    def pods(self) -> str:
        """As kubectl names them."""
        return f"-n {self.namespace} -l app.kubernetes.io/name={self.name}"


class Finding(NamedTuple):
    grade: Grade
    subject: str
    told: str
    cure: str = ""


def fine(subject: str, told: str) -> Finding:
    return Finding(Grade.FINE, subject, told)


def broken(subject: str, told: str, cure: str) -> Finding:
    return Finding(Grade.BROKEN, subject, told, cure)


def unknown(subject: str, told: str, cure: str) -> Finding:
    return Finding(Grade.UNKNOWN, subject, told, cure)


def warning(subject: str, told: str, cure: str) -> Finding:
    return Finding(Grade.WARNING, subject, told, cure)


def server_version(answer: Mapping[str, Any]) -> Finding:
    told = str(answer.get("gitVersion", "?"))
    major, minor = (_number(answer.get(name)) for name in ("major", "minor"))
    if (major, minor) >= OLDEST:
        return fine("API server", told)
    oldest = ".".join(map(str, OLDEST))
    return broken("API server", f"{told} is older than {oldest}", f"upgrade the cluster to {oldest} or newer")


def _number(value: object) -> int:
    digits = "".join(letter for letter in str(value or "") if letter.isdigit())
    return int(digits or 0)


def definitions(wanted: Iterable[Manifest], living: Mapping[str, Manifest | None]) -> Finding:
    cure = "steward crds | kubectl apply --server-side --force-conflicts -f -"
    names = {manifest["metadata"]["name"]: manifest for manifest in wanted}
    missing = [name for name in names if living.get(name) is None]
    if missing:
        return broken("definitions", f"{', '.join(missing)} missing", cure)
    old = [name for name, manifest in names.items() if not _serves(living[name] or {}, manifest)]
    if old:
        return broken("definitions", f"{', '.join(old)} of another version of Steward", cure)
    return fine("definitions", f"all {len(names)} are there and current")


def _serves(living: Manifest, wanted: Manifest) -> bool:
    versions = {each["name"]: each for each in living.get("spec", {}).get("versions", ())}
    return all(
        contains(versions.get(each["name"], {}).get("schema"), each["schema"])
        for each in wanted["spec"]["versions"]
    )


def contains(living: Any, wanted: Any) -> bool:
    """Whether all that is wanted is there; the server may have added defaults."""
    if isinstance(wanted, dict):
        return isinstance(living, dict) and all(
            contains(living.get(key), each) for key, each in wanted.items()
        )
    if isinstance(wanted, list | tuple):
        same = isinstance(living, list) and len(living) == len(wanted)
        return same and all(contains(one, each) for one, each in zip(living, wanted, strict=True))
    return bool(living == wanted)


def webhook_trust(operator: Examined, configurations: list[Manifest], now: datetime.datetime) -> Finding:
    """Whether the API server trusts somebody there, and for how long."""
    subject = f"{operator.name} webhooks"
    cure = f"see its log: kubectl logs {operator.pods}"
    bundles = [
        webhook["clientConfig"].get("caBundle", "")
        for configuration in configurations
        for webhook in configuration.get("webhooks", ())
    ]
    if not bundles:
        return warning(subject, "are not registered", _REGISTER)
    if not all(bundles):
        return broken(subject, "have no CA bundle, so every write of our kinds is refused", cure)
    try:
        ends = min(end for bundle in set(bundles) for end in _ends(bundle))
    except (ValueError, binascii.Error):
        return broken(subject, "have a CA bundle that is no certificate", cure)
    if ends <= now:
        return broken(subject, f"trust a certificate that ended on {ends:%Y-%m-%d}", cure)
    if ends - now < SOON:
        return warning(subject, f"trust a certificate that ends on {ends:%Y-%m-%d}", cure)
    return fine(subject, f"registered, trusted until {ends:%Y-%m-%d}")


def nobody_is_asked(operator: Examined) -> Finding:
    """A write that passes says nothing of webhooks that the API server does not know."""
    return unknown(f"{operator.name} webhooks answer", "nobody is asked, since none is registered", _REGISTER)


def _ends(bundle: str) -> list[datetime.datetime]:
    """The last one of the bundle counts: while an authority is replaced, both are there."""
    # Not at the top: its library takes as long to load as most answers take to come.
    from cryptography import x509

    found = x509.load_pem_x509_certificates(base64.b64decode(bundle))
    return [max(each.not_valid_after_utc for each in found)]


def leader(operator: Examined, lease: Manifest | None, now: datetime.datetime) -> Finding:
    subject = f"{operator.name} leader"
    cure = f"is it running? kubectl get pods {operator.pods}"
    spec = {} if lease is None else lease.get("spec", {})
    holder, renewed = spec.get("holderIdentity", ""), spec.get("renewTime", "")
    if not holder or not renewed:
        return broken(subject, "nobody leads", cure)
    age = (now - datetime.datetime.fromisoformat(renewed)).total_seconds()
    if age > float(spec.get("leaseDurationSeconds") or 15):
        return broken(subject, f"{holder} has not renewed its lease for {age:.0f} s", cure)
    return fine(subject, holder)


def version_skew(operator: str, deployment: Manifest | None, ours: str) -> Finding:
    subject = f"{operator} version"
    if deployment is None:
        return warning(
            subject, "no Deployment of it in the cluster", "it may run elsewhere; else: steward install"
        )
    image = str(deployment["spec"]["template"]["spec"]["containers"][0]["image"])
    tag = image.partition("@")[0].rpartition(":")[2]
    if tag in (ours, f"v{ours}"):
        return fine(subject, tag)
    cure = f"use steward {tag} here, or upgrade the installation: steward install --apply"
    return warning(subject, f"{image} runs there, and this is {ours}", cure)


def sources(registries: Iterable[Manifest]) -> list[Finding]:
    return [_source(registry) for registry in registries]


def _source(registry: Manifest) -> Finding:
    meta = registry["metadata"]
    subject = f"source of {meta['namespace']}/{meta['name']}"
    conditions = (registry.get("status") or {}).get("conditions") or ()
    told = next((each for each in conditions if each["type"] == "SourceReachable"), None)
    cure = f"steward rows {meta['name']} -n {meta['namespace']}"
    if told is None:
        return unknown(subject, "the operator has not looked yet", cure)
    if told["status"] == "True":
        return fine(subject, "readable")
    return broken(subject, str(told.get("message", "")), cure)
