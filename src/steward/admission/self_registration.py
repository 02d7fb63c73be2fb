"""An operator outside the cluster registers its webhooks itself, and removes the registration when it stops.

It registers only once the server serves: a configuration without a server rejects every write. An operator of some
namespaces registers for those alone, under a name of its own, so that two such operators do not conflict. Without the
rights to register, which the shipped roles do not grant, it runs without webhooks: objects are validated again when
they are reconciled.
"""

import base64
import hashlib
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from steward.admission.addresses import url_with_port
from steward.admission.host import WebhookHost
from steward.admission.server import WebhookServer
from steward.certificates.errors import CertificateError
from steward.certificates.options import Trust
from steward.kube.errors import ApiError, Forbidden, Invalid, KubeError, NotFound
from steward.kube.objects.kinds import Manifest, ref_of
from steward.kube.objects.options import ApplyOptions

SELF_SUBJECT_REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview", "metadata": {}}
POLICY, BINDING = "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"
NAMESPACE_NAME = "kubernetes.io/metadata.name"
NOT_REGISTERED = (
    "the webhooks are not registered at %s, and objects are validated only when they are reconciled: %s (%s)"
)
MISSING_RIGHTS = (
    "grant the user get, create, patch and delete on webhook configurations and admission policies, or leave "
    "--webhook-url out"
)
ANOTHER_INSTALLATION = (
    "an installation in the cluster has registered its own; choose --namespaces, or leave --webhook-url out"
)
POLL_SECONDS = 0.1
START_TIMEOUT_SECONDS = 60.0

log = logging.getLogger(__name__)


class OperatorRegistration(Protocol):
    @property
    def operator(self) -> str: ...

    @property
    def configurations(self) -> Callable[[Manifest], list[Manifest]]: ...

    @property
    def policies(self) -> Callable[[str], list[Manifest]]: ...


class SelfRegistration:
    def __init__(
        self, host: WebhookHost, server: WebhookServer, registrations: Sequence[OperatorRegistration]
    ) -> None:
        self._host = host
        self._server = server
        self._registrations = registrations
        self._client = host.connection.replica_client
        self._applied: list[Manifest] = []
        self._has_warned = False

    async def hook(self, trust: Trust) -> None:
        """Called by the keeper, first with the bundle alone, then with the leaves."""
        if trust.leaves:
            await self._register_if_allowed(trust.bundle)

    async def register_mounted(self, directory: Path) -> None:
        """For a certificate mounted by another issuer, with its `ca.crt`."""
        await self._register_if_allowed((directory / "ca.crt").read_bytes())

    async def stop(self) -> None:
        """Deletes the configurations, because the server stops. Policies need no server and stay."""
        for manifest in self._applied:
            try:
                await self._client.delete(ref_of(manifest))
            except NotFound:
                pass
            except KubeError as error:
                log.warning("cannot delete %s: %s", ref_of(manifest), error)

    async def _register_if_allowed(self, bundle: bytes) -> None:
        try:
            await self._register(bundle)
        except Forbidden as error:
            self._warn(MISSING_RIGHTS, error)
        except Invalid as error:
            # A webhook has a service or a URL; the configurations of an installation name its Service.
            self._warn(ANOTHER_INSTALLATION, error)

    def _warn(self, cure: str, error: ApiError) -> None:
        """Once: the keeper calls again with every new certificate."""
        level = logging.DEBUG if self._has_warned else logging.WARNING
        log.log(level, NOT_REGISTERED, self._host.settings.webhook_url, cure, error)
        self._has_warned = True

    async def _register(self, bundle: bytes) -> None:
        await self._wait_until_served()
        user = await self._user_name()
        namespaces = self._host.settings.namespaces
        client_config = {
            "url": url_with_port(self._host.settings.webhook_url, self._server.port),
            "caBundle": base64.b64encode(bundle).decode(),
        }
        for registration in self._registrations:
            options = ApplyOptions(manager=registration.operator, force=True)
            for policy in restrict_to_namespaces(registration.policies(user), namespaces):
                await self._client.apply(policy, options)
            for configuration in restrict_to_namespaces(
                registration.configurations(client_config), namespaces
            ):
                await self._client.apply(configuration, options)
                self._applied.append(configuration)

    async def _wait_until_served(self) -> None:
        clock = self._host.connection.clock
        end = clock.monotonic() + START_TIMEOUT_SECONDS
        while problem := self._server.problem():
            if clock.monotonic() >= end:
                raise CertificateError(f"the webhooks are not registered: {problem}")
            await clock.sleep(POLL_SECONDS)

    async def _user_name(self) -> str:
        answer = msgspec.json.decode(await self._client.create(dict(SELF_SUBJECT_REVIEW)))
        return str(answer["status"]["userInfo"]["username"])


def restrict_to_namespaces(manifests: list[Manifest], namespaces: tuple[str, ...]) -> list[Manifest]:
    """The manifests restricted to these namespaces, with a name of their own; unchanged for all namespaces."""
    if not namespaces:
        return manifests
    return [_restrict(manifest, namespaces) for manifest in manifests]


def _restrict(manifest: Manifest, namespaces: tuple[str, ...]) -> Manifest:
    chosen = {"matchExpressions": [{"key": NAMESPACE_NAME, "operator": "In", "values": sorted(namespaces)}]}
    suffix = hashlib.sha256(",".join(sorted(namespaces)).encode()).hexdigest()[:8]
    named = {
        **manifest,
        "metadata": {**manifest["metadata"], "name": f"{manifest['metadata']['name']}-{suffix}"},
    }
    if manifest["kind"] == BINDING:
        return {**named, "spec": {**named["spec"], "policyName": f"{named['spec']['policyName']}-{suffix}"}}
    if manifest["kind"] == POLICY:
        matched: dict[str, Any] = {**named["spec"]["matchConstraints"], "namespaceSelector": chosen}
        return {**named, "spec": {**named["spec"], "matchConstraints": matched}}
    return {**named, "webhooks": [{**webhook, "namespaceSelector": chosen} for webhook in named["webhooks"]]}
