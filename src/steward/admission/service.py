"""The webhooks of a process, as one service of the manager: a server, its certificate, and what the API server is told.

Every operator of the process registers here what it brings, and all of it is served on one port under one certificate.
It runs on every replica, leader or not. In a cluster the configurations are part of the installation and only the
bundle of trusted authorities is ours; outside one (`webhook_url`) the operator brings its own, for as long as it runs.

    serve_webhooks(manager, Registration("shop-operator", webhooks, configurations, certificates))
"""

import logging
import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from steward.admission.addresses import Reach, host_names
from steward.admission.ca_bundle import publish_bundle
from steward.admission.certificate_source import Strategy, find_strategy
from steward.admission.host import Host
from steward.admission.metrics import WebhookFigures
from steward.admission.own_deployment import OwnerQuery, find_deployment
from steward.admission.review import Review
from steward.admission.self_registration import SelfRegistration
from steward.admission.server import Hooks, Reviewed, ServerSettings, Webhook, WebhookServer
from steward.certificates.errors import OwnerNotFoundError
from steward.certificates.keeper import CertificateKeeper
from steward.certificates.options import Hook, KeeperOptions, Leaf, Owner
from steward.certificates.projection import write_files
from steward.certificates.serving_certificate import ServingCertificate
from steward.certificates.worker_process import in_another_process
from steward.kube.client.deployments import NAME_LABEL
from steward.kube.objects.kinds import Manifest, ref_of

IN_CLUSTER_VARIABLE = "KUBERNETES_SERVICE_HOST"
OFF = ("", "0")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class CertificateNames:
    """What the certificate of an operator's webhooks is called, and who it says it is."""

    ca_secret: str
    server_secret: str
    service: str
    organization: str
    manager: str


@dataclass(frozen=True)
class Registration:
    """What one operator brings. `configurations` gets a clientConfig without a path, `policies` the operator's user."""

    operator: str
    metrics_prefix: str
    webhooks: tuple[Webhook, ...]
    configurations: Callable[[Manifest], list[Manifest]]
    certificates: CertificateNames
    policies: Callable[[str], list[Manifest]] = lambda user: []
    around: Callable[[Webhook, Review], AbstractContextManager[object]] = lambda webhook, review: (
        nullcontext()
    )


def serve_webhooks(host: Host, registration: Registration, environ: Mapping[str, str] = os.environ) -> None:
    """Have the webhooks of an operator served, where webhooks are served at all."""
    if is_on(host, environ):
        host.shared_service(WebhookService, lambda: WebhookService(host)).register(registration)


def is_on(host: Host, environ: Mapping[str, str]) -> bool:
    settings = host.settings
    if settings.webhook_bind_address in OFF or settings.webhooks == "off":
        return False
    return settings.webhooks == "on" or bool(settings.webhook_url) or IN_CLUSTER_VARIABLE in environ


class WebhookService:
    name = "webhooks"

    def __init__(self, host: Host) -> None:
        self._host = host
        self._client = host.connection.replica_client
        self._registrations: list[Registration] = []
        self._figures: dict[str, WebhookFigures] = {}
        self._by_path: dict[str, Registration] = {}
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._server: WebhookServer | None = None
        self._keeper: CertificateKeeper | None = None
        self._registering: SelfRegistration | None = None

    def register(self, registration: Registration) -> None:
        self._registrations.append(registration)
        self._by_path |= {webhook.path: registration for webhook in registration.webhooks}
        figures = WebhookFigures(registration.metrics_prefix, self._host.connection.metrics.registry)
        self._figures[registration.operator] = figures

    def problem(self) -> str:
        if self._server is None:
            return "the webhooks are not served yet"
        return self._server.problem() or (self._keeper.problem() if self._keeper else "")

    async def start(self) -> None:
        directory = self._directory()
        settings = ServerSettings(
            *Reach.listening(self._host.settings.webhook_bind_address), hooks=self._hooks()
        )
        self._server = WebhookServer(settings, ServingCertificate(directory), self._host.connection.clock)
        for registration in self._registrations:
            for webhook in registration.webhooks:
                self._server.add(webhook)
        await self._server.start()
        await self._keep_certificates(directory)

    async def stop(self) -> None:
        """The configurations go first: as long as they stand, the API server asks."""
        for part in (self._registering, self._keeper, self._server):
            if part is not None:
                await part.stop()
        if self._temporary is not None:
            self._temporary.cleanup()

    def _directory(self) -> Path:
        """In a cluster, where nobody has mounted a Secret, we bring the certificate to a place of our own: the kubelet
        takes a minute for a Secret that comes after the pod, and until then every write of our kinds is refused."""
        settings = self._host.settings
        chosen = Path(settings.webhook_cert_path)
        if _is_usable(chosen) if settings.webhook_url else chosen.is_dir():
            return chosen
        self._temporary = tempfile.TemporaryDirectory(prefix="steward-webhooks-")
        return Path(self._temporary.name)

    def _is_mounted(self) -> bool:
        """Whether a kubelet brings the certificate to the directory."""
        return not self._host.settings.webhook_url and self._temporary is None

    async def _keep_certificates(self, directory: Path) -> None:
        options = self._keeper_options(directory)
        strategy = await find_strategy(self._client, options, options.leaves[0], directory)
        if strategy is Strategy.MOUNTED:
            log.info("serving the certificate that is mounted", extra={"directory": str(directory)})
            if self._registering is not None:
                await self._registering.with_mounted(directory)
            return
        options = replace(options, owner=await self._owner())
        self._keeper = CertificateKeeper(
            self._client, options, self._host.connection.clock, notary=in_another_process
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
            hooks=self._hooks_of(directory),
        )

    def _dns_names(self) -> tuple[str, ...]:
        namespace = self._host.connection.namespace
        hosts = [f"{self._service(one)}.{namespace}.svc" for one in self._registrations]
        return tuple(dict.fromkeys(name for host in hosts for name in (host, f"{host}.cluster.local")))

    def _service(self, registration: Registration) -> str:
        return self._host.settings.webhook_service or registration.certificates.service

    def _hooks_of(self, directory: Path) -> tuple[Hook, ...]:
        writing = write_files(self._registrations[0].certificates.server_secret, directory)
        if self._host.settings.webhook_url:
            return (writing, self._hook_outside())
        return self._hooks_inside() if self._is_mounted() else (writing, *self._hooks_inside())

    def _hooks_inside(self) -> tuple[Hook, ...]:
        """The installation made the configurations; we only say whom to trust."""
        return tuple(
            publish_bundle(
                self._client,
                tuple(ref_of(made) for made in registration.configurations({"service": {}})),
                registration.certificates.manager,
            )
            for registration in self._registrations
        )

    def _hook_outside(self) -> Hook:
        assert self._server is not None
        self._registering = SelfRegistration(self._host, self._server, tuple(self._registrations))
        return self._registering.hook

    async def _owner(self) -> Owner | None:
        """Our Deployment, so that the Secrets go when it goes; outside a cluster there is none."""
        labels = {NAME_LABEL: self._registrations[0].operator}
        try:
            return await find_deployment(self._client, OwnerQuery(self._host.connection.namespace, labels))
        except OwnerNotFoundError as error:
            log.debug("the webhook certificates have no owner: %s", error)
            return None

    def _hooks(self) -> Hooks:
        return Hooks(on_review=self._count, around=self._around)

    def _count(self, reviewed: Reviewed) -> None:
        self._figures[self._by_path[reviewed.path].operator].count(reviewed)

    def _around(self, webhook: Webhook, review: Review) -> AbstractContextManager[object]:
        return self._by_path[webhook.path].around(webhook, review)


def _is_usable(directory: Path) -> bool:
    """Whether files can be kept there: it exists, or its parent does and is ours to write."""
    return os.access(directory if directory.exists() else directory.parent, os.W_OK)
