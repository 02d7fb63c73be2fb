"""An operator outside the cluster tells the API server of its webhooks itself, and takes that back when it stops.

Only once the server serves: a configuration that points at nobody refuses every write. An operator that looks after
some namespaces registers for those alone, under a name of its own, so that two such operators do not meet.
"""

import base64
import hashlib
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from steward.admission.addresses import reachable_url
from steward.admission.host import Host
from steward.admission.server import WebhookServer
from steward.certificates.errors import CertificateError
from steward.certificates.options import Trust
from steward.kube.errors import KubeError, NotFound
from steward.kube.objects.kinds import Manifest, ref_of
from steward.kube.objects.options import ApplyOptions

WHO_AM_I = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview", "metadata": {}}
POLICY, BINDING = "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"
NAMESPACE_NAME = "kubernetes.io/metadata.name"
POLL_SECONDS = 0.1
PATIENCE = 60.0

log = logging.getLogger(__name__)


class Registered(Protocol):
    @property
    def operator(self) -> str: ...

    @property
    def configurations(self) -> Callable[[Manifest], list[Manifest]]: ...

    @property
    def policies(self) -> Callable[[str], list[Manifest]]: ...


class SelfRegistration:
    def __init__(self, host: Host, server: WebhookServer, registrations: Sequence[Registered]) -> None:
        self._host = host
        self._server = server
        self._registrations = registrations
        self._client = host.connection.replica_client
        self._made: list[Manifest] = []

    async def hook(self, trust: Trust) -> None:
        """Called by the keeper, first with the bundle alone, then with the certificate that the server shows."""
        if trust.leaves:
            await self._register(trust.bundle)

    async def with_mounted(self, directory: Path) -> None:
        """For a certificate that someone else mounts: its authority lies beside it."""
        await self._register((directory / "ca.crt").read_bytes())

    async def stop(self) -> None:
        """Nobody answers any more, so nobody shall be asked. Policies need no answer and stay."""
        for manifest in self._made:
            try:
                await self._client.delete(ref_of(manifest))
            except NotFound:
                pass
            except KubeError as error:
                log.warning("%s stays registered: %s", ref_of(manifest), error)

    async def _register(self, bundle: bytes) -> None:
        await self._until_served()
        user = await self._own_name()
        namespaces = self._host.settings.namespaces
        reached = {
            "url": reachable_url(self._host.settings.webhook_url, self._server.port),
            "caBundle": base64.b64encode(bundle).decode(),
        }
        for registration in self._registrations:
            options = ApplyOptions(manager=registration.operator, force=True)
            for policy in restricted(registration.policies(user), namespaces):
                await self._client.apply(policy, options)
            for configuration in restricted(registration.configurations(reached), namespaces):
                await self._client.apply(configuration, options)
                self._made.append(configuration)

    async def _until_served(self) -> None:
        clock = self._host.connection.clock
        end = clock.monotonic() + PATIENCE
        while problem := self._server.problem():
            if clock.monotonic() >= end:
                raise CertificateError(f"the webhooks are not registered: {problem}")
            await clock.sleep(POLL_SECONDS)

    async def _own_name(self) -> str:
        answer = msgspec.json.decode(await self._client.create(dict(WHO_AM_I)))
        return str(answer["status"]["userInfo"]["username"])


def restricted(manifests: list[Manifest], namespaces: tuple[str, ...]) -> list[Manifest]:
    """The same for these namespaces alone, under a name that tells them apart; all namespaces change nothing."""
    if not namespaces:
        return manifests
    return [_restricted(manifest, namespaces) for manifest in manifests]


def _restricted(manifest: Manifest, namespaces: tuple[str, ...]) -> Manifest:
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
