"""The webhooks of a process, as one service of the manager: server, certificate and registration.

Every operator of the process registers its webhooks here; all are served on one port with one certificate. The service
runs on every replica, leader or not. In a cluster the webhook configurations are part of the installation and the
operator only writes their CA bundle; outside one (`webhook_url`) it applies its own configurations while it runs.

    serve_webhooks(manager, Registration("shop-operator", webhooks, configurations, certificates))
"""

import logging
import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from steward.admission.addresses import ListenAddress, host_names
from steward.admission.ca_bundle import publish_bundle
from steward.admission.certificate_source import CertificateStrategy, find_strategy
from steward.admission.host import WebhookHost
from steward.admission.metrics import WebhookMetrics
from steward.admission.review import Review
from steward.admission.self_registration import SelfRegistration
from steward.admission.server import (
    ReviewRecord,
    ServerHooks,
    ServerSettings,
    Webhook,
    WebhookPurpose,
    WebhookServer,
)
from steward.certificates.keeper import CertificateKeeper
from steward.certificates.options import CertificateOwner, Hook, KeeperOptions, Leaf
from steward.certificates.projection import write_leaf_files
from steward.certificates.serving_certificate import ServingCertificate
from steward.certificates.worker_process import in_subprocess
from steward.kube.client.deployments import NAME_LABEL, find_deployment
from steward.kube.errors import DeploymentNotFound
from steward.kube.objects.kinds import Key, Kind, Manifest, Ref, ref_of
from steward.runtime.observability import tracing

IN_CLUSTER_VARIABLE = "KUBERNETES_SERVICE_HOST"
OFF = ("", "0")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class CertificateNames:
    """Names of the Secrets, Service, organization and field manager of the webhook certificate."""

    ca_secret: str
    server_secret: str
    service: str
    organization: str
    manager: str


@dataclass(frozen=True)
class Registration:
    """The webhooks of an operator. `configurations` gets a clientConfig without a path, `policies` the user name."""

    operator: str
    metrics_prefix: str
    webhooks: tuple[Webhook, ...]
    configurations: Callable[[Manifest], list[Manifest]]
    certificates: CertificateNames
    policies: Callable[[str], list[Manifest]] = lambda user: []


def serve_webhooks(
    host: WebhookHost, registration: Registration, environ: Mapping[str, str] = os.environ
) -> None:
    """Registers the webhooks of an operator, if webhooks are enabled."""
    if webhooks_enabled(host, environ):
        host.shared_service(WebhookService, lambda: WebhookService(host)).register(registration)


def webhooks_enabled(host: WebhookHost, environ: Mapping[str, str]) -> bool:
    settings = host.settings
    if settings.webhook_bind_address in OFF or settings.webhooks == "off":
        return False
    return settings.webhooks == "on" or bool(settings.webhook_url) or IN_CLUSTER_VARIABLE in environ


class WebhookService:
    name = "webhooks"

    def __init__(self, host: WebhookHost) -> None:
        self._host = host
        self._client = host.connection.replica_client
        self._registrations: list[Registration] = []
        self._metrics: dict[str, WebhookMetrics] = {}
        self._by_path: dict[str, Registration] = {}
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._server: WebhookServer | None = None
        self._keeper: CertificateKeeper | None = None
        self._self_registration: SelfRegistration | None = None

    def register(self, registration: Registration) -> None:
        self._registrations.append(registration)
        self._by_path |= {webhook.path: registration for webhook in registration.webhooks}
        metrics = WebhookMetrics(registration.metrics_prefix, self._host.connection.metrics.registry)
        self._metrics[registration.operator] = metrics

    def problem(self) -> str:
        if self._server is None:
            return "the webhooks are not served yet"
        return self._server.problem() or (self._keeper.problem() if self._keeper else "")

    async def start(self) -> None:
        directory = self._directory()
        settings = ServerSettings(
            *ListenAddress.parse(self._host.settings.webhook_bind_address), hooks=self._server_hooks()
        )
        self._server = WebhookServer(settings, ServingCertificate(directory), self._host.connection.clock)
        for registration in self._registrations:
            for webhook in registration.webhooks:
                self._server.add(webhook)
        await self._server.start()
        await self._keep_certificates(directory)

    async def stop(self) -> None:
        """Removes the configurations first: while they exist, the API server calls the webhooks."""
        for part in (self._self_registration, self._keeper, self._server):
            if part is not None:
                await part.stop()
        if self._temporary is not None:
            self._temporary.cleanup()

    def _directory(self) -> Path:
        """Where no Secret is mounted, the operator writes the certificate to a temporary directory: the kubelet takes
        a minute to mount a Secret created after the pod, and until then every write of our kinds is rejected."""
        settings = self._host.settings
        chosen = Path(settings.webhook_cert_path)
        if _is_usable(chosen) if settings.webhook_url else chosen.is_dir():
            return chosen
        self._temporary = tempfile.TemporaryDirectory(prefix="steward-webhooks-")
        return Path(self._temporary.name)

    def _is_mounted(self) -> bool:
        """Whether a kubelet mounts the certificate into the directory."""
        return not self._host.settings.webhook_url and self._temporary is None

    async def _keep_certificates(self, directory: Path) -> None:
        options = self._keeper_options(directory)
        strategy = await find_strategy(self._client, options, options.leaves[0], directory)
        if strategy is CertificateStrategy.MOUNTED:
            log.info("serving the mounted certificate", extra={"directory": str(directory)})
            if self._self_registration is not None:
                await self._self_registration.register_mounted(directory)
            return
        options = replace(options, owner=await self._owner())
        self._keeper = CertificateKeeper(
            self._client, options, self._host.connection.clock, worker=in_subprocess
        )
        await self._keeper.start()

    def _keeper_options(self, directory: Path) -> KeeperOptions:
        names = self._registrations[0].certificates
        place = directory if self._is_mounted() else None
        leaf = Leaf(names.server_secret, dns_names=self._dns_names(), directory=place)
        if self._host.settings.webhook_url:
            dns_names, addresses = host_names(self._host.settings.webhook_url)
            leaf = replace(leaf, dns_names=(*leaf.dns_names, *dns_names), ip_addresses=addresses)
        return KeeperOptions(
            self._host.connection.namespace,
            names.ca_secret,
            (leaf,),
            organization=names.organization,
            component="webhook",
            manager=names.manager,
            hooks=self._keeper_hooks(directory),
        )

    def _dns_names(self) -> tuple[str, ...]:
        namespace = self._host.connection.namespace
        hosts = [f"{self._service(one)}.{namespace}.svc" for one in self._registrations]
        return tuple(dict.fromkeys(name for host in hosts for name in (host, f"{host}.cluster.local")))

    def _service(self, registration: Registration) -> str:
        return self._host.settings.webhook_service or registration.certificates.service

    def _keeper_hooks(self, directory: Path) -> tuple[Hook, ...]:
        writing = write_leaf_files(self._registrations[0].certificates.server_secret, directory)
        if self._host.settings.webhook_url:
            return (writing, self._registration_hook())
        return self._bundle_hooks() if self._is_mounted() else (writing, *self._bundle_hooks())

    def _bundle_hooks(self) -> tuple[Hook, ...]:
        """The configurations are part of the installation; the hooks only write their CA bundle."""
        return tuple(
            publish_bundle(
                self._client,
                tuple(ref_of(made) for made in registration.configurations({"service": {}})),
                registration.certificates.manager,
            )
            for registration in self._registrations
        )

    def _registration_hook(self) -> Hook:
        assert self._server is not None
        self._self_registration = SelfRegistration(self._host, self._server, tuple(self._registrations))
        return self._self_registration.hook

    async def _owner(self) -> CertificateOwner | None:
        """The operator's Deployment, so that the Secrets are deleted with it; None outside a cluster."""
        labels = {NAME_LABEL: self._registrations[0].operator}
        try:
            found = await find_deployment(self._client, self._host.connection.namespace, labels)
        except DeploymentNotFound as error:
            log.debug("the webhook certificates have no owner: %s", error)
            return None
        return CertificateOwner(found.api_version, found.kind, found.name, found.uid)

    def _server_hooks(self) -> ServerHooks:
        return ServerHooks(on_review=self._count, around=_span)

    def _count(self, record: ReviewRecord) -> None:
        self._metrics[self._by_path[record.path].operator].count(record)


def _span(webhook: Webhook, review: Review) -> AbstractContextManager[object]:
    name = "Webhook.Default" if webhook.purpose is WebhookPurpose.DEFAULT else "Webhook.Validate"
    kind = Kind(f"{review.kind.group}/{review.kind.version}", review.kind.kind)
    return tracing.span(name, Ref(kind, Key(review.namespace, review.name)))


def _is_usable(directory: Path) -> bool:
    """Whether files can be written there: the directory, or its parent, is writable."""
    return os.access(directory if directory.exists() else directory.parent, os.W_OK)
