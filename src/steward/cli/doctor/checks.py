"""The checks of `steward doctor`: objects in, results with cures out. Pure."""

from __future__ import annotations

import base64
import binascii
import datetime
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, Final, NamedTuple

from steward.cli.hints import command_line
from steward.kube.objects.kinds import Manifest

MINIMUM_VERSION: Final = (1, 30)
EXPIRY_WARNING: Final = datetime.timedelta(days=7)


class Grade(Enum):
    FINE = "✓"
    WARNING = "!"
    BROKEN = "✗"
    UNKNOWN = "?"


class OperatorLocation(NamedTuple):
    """The name and namespace of an operator."""

    name: str
    namespace: str

    @property
    def pod_selector(self) -> str:
        """Arguments of kubectl that select its pods."""
        return f"-n {self.namespace} -l app.kubernetes.io/name={self.name}"


class CheckResult(NamedTuple):
    grade: Grade
    subject: str
    message: str
    cure: str = ""


def fine(subject: str, message: str) -> CheckResult:
    return CheckResult(Grade.FINE, subject, message)


def broken(subject: str, message: str, cure: str) -> CheckResult:
    return CheckResult(Grade.BROKEN, subject, message, cure)


def unknown(subject: str, message: str, cure: str) -> CheckResult:
    return CheckResult(Grade.UNKNOWN, subject, message, cure)


def warning(subject: str, message: str, cure: str) -> CheckResult:
    return CheckResult(Grade.WARNING, subject, message, cure)


def install_command() -> str:
    return command_line("install", "--apply")


def _register_cure() -> str:
    return f"{install_command()}, unless webhooks are off on purpose"


def check_server_version(answer: Mapping[str, Any]) -> CheckResult:
    version = str(answer.get("gitVersion", "?"))
    major, minor = (_number(answer.get(name)) for name in ("major", "minor"))
    if (major, minor) >= MINIMUM_VERSION:
        return fine("API server", version)
    minimum = ".".join(map(str, MINIMUM_VERSION))
    return broken(
        "API server", f"{version} is older than {minimum}", f"upgrade the cluster to {minimum} or newer"
    )


def _number(value: object) -> int:
    digits = "".join(letter for letter in str(value or "") if letter.isdigit())
    return int(digits or 0)


def check_crds(desired: Iterable[Manifest], live: Mapping[str, Manifest | None]) -> CheckResult:
    cure = "steward crds | kubectl apply --server-side --force-conflicts -f -"
    names = {manifest["metadata"]["name"]: manifest for manifest in desired}
    missing = [name for name in names if live.get(name) is None]
    if missing:
        return broken("definitions", f"{', '.join(missing)} missing", cure)
    old = [name for name, manifest in names.items() if not _has_schemas(live[name] or {}, manifest)]
    if old:
        return broken("definitions", f"{', '.join(old)} of another version of Steward", cure)
    return fine("definitions", f"all {len(names)} are installed and current")


def _has_schemas(live: Manifest, desired: Manifest) -> bool:
    versions = {each["name"]: each for each in live.get("spec", {}).get("versions", ())}
    return all(
        contains(versions.get(each["name"], {}).get("schema"), each["schema"])
        for each in desired["spec"]["versions"]
    )


def contains(live: Any, desired: Any) -> bool:
    """Whether `live` has every desired value; the API server may have added defaults."""
    if isinstance(desired, dict):
        return isinstance(live, dict) and all(contains(live.get(key), each) for key, each in desired.items())
    if isinstance(desired, list | tuple):
        same = isinstance(live, list) and len(live) == len(desired)
        return same and all(contains(one, each) for one, each in zip(live, desired, strict=True))
    return bool(live == desired)


def check_webhook_trust(
    operator: OperatorLocation, configurations: list[Manifest], now: datetime.datetime
) -> CheckResult:
    """Checks that the CA bundles of the webhooks are valid, and for how long."""
    subject = f"{operator.name} webhooks"
    cure = f"see its log: kubectl logs {operator.pod_selector}"
    bundles = [
        webhook["clientConfig"].get("caBundle", "")
        for configuration in configurations
        for webhook in configuration.get("webhooks", ())
    ]
    if not bundles:
        return warning(subject, "are not registered", _register_cure())
    if not all(bundles):
        return broken(
            subject, "have no CA bundle, so the API server rejects every write of these kinds", cure
        )
    try:
        expiry = min(map(_bundle_expiry, set(bundles)))
    except (ValueError, binascii.Error):
        return broken(subject, "have a CA bundle without a valid certificate", cure)
    if expiry <= now:
        return broken(subject, f"trust a certificate that ended on {expiry:%Y-%m-%d}", cure)
    if expiry - now < EXPIRY_WARNING:
        return warning(subject, f"trust a certificate that ends on {expiry:%Y-%m-%d}", cure)
    return fine(subject, f"registered, trusted until {expiry:%Y-%m-%d}")


def webhooks_not_registered(operator: OperatorLocation) -> CheckResult:
    """A successful write proves nothing when no webhook is registered."""
    return unknown(
        f"{operator.name} webhooks answer", "not checked: no webhook is registered", _register_cure()
    )


def _bundle_expiry(bundle: str) -> datetime.datetime:
    """The latest certificate counts: during a CA rotation the bundle holds both."""
    # Imported here: loading the library takes as long as most requests.
    from cryptography import x509

    found = x509.load_pem_x509_certificates(base64.b64decode(bundle))
    return max(each.not_valid_after_utc for each in found)


def check_leader(operator: OperatorLocation, lease: Manifest | None, now: datetime.datetime) -> CheckResult:
    subject = f"{operator.name} leader"
    cure = f"is it running? kubectl get pods {operator.pod_selector}"
    spec = {} if lease is None else lease.get("spec", {})
    holder, renewed = spec.get("holderIdentity", ""), spec.get("renewTime", "")
    if not holder or not renewed:
        return broken(subject, "no replica leads", cure)
    age = (now - datetime.datetime.fromisoformat(renewed)).total_seconds()
    if age > float(spec.get("leaseDurationSeconds") or 15):
        return broken(subject, f"{holder} has not renewed its lease for {age:.0f} s", cure)
    return fine(subject, holder)


def check_version_skew(operator: str, deployment: Manifest | None, cli_version: str) -> CheckResult:
    subject = f"{operator} version"
    if deployment is None:
        return warning(
            subject, "no Deployment of it in the cluster", f"it may run elsewhere; else: {install_command()}"
        )
    image = str(deployment["spec"]["template"]["spec"]["containers"][0]["image"])
    tag = image.partition("@")[0].rpartition(":")[2]
    if tag in (cli_version, f"v{cli_version}"):
        return fine(subject, tag)
    cure = f"use steward {tag} here, or upgrade the installation: {install_command()}"
    return warning(subject, f"{image} is installed, but this command is version {cli_version}", cure)


def check_sources(registries: Iterable[Manifest]) -> list[CheckResult]:
    return [_check_source(registry) for registry in registries]


def _check_source(registry: Manifest) -> CheckResult:
    meta = registry["metadata"]
    subject = f"source of {meta['namespace']}/{meta['name']}"
    conditions = (registry.get("status") or {}).get("conditions") or ()
    condition = next((each for each in conditions if each["type"] == "SourceReachable"), None)
    cure = command_line("rows", meta["name"], namespace=meta["namespace"])
    if condition is None:
        return unknown(subject, "the operator has not read the table yet", cure)
    if condition["status"] == "True":
        return fine(subject, "readable")
    return broken(subject, str(condition.get("message", "")), cure)
