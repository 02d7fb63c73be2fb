"""Certificates of the backup service: one authority and one leaf per shard, renewed on a timer of their own.

A user's own Secret is only read, live, because it has no label of this operator: the Shard's status reports whether it
exists and is complete. Other Secrets are created and renewed by the certificate keeper, which writes them itself
instead of through a plan, independently of the Shard controller.
"""

import base64
from typing import Any

from msgspec import UNSET

from steward.certificates.authority import Usage
from steward.certificates.errors import CertificateError
from steward.certificates.keeper import CertificateKeeper
from steward.certificates.options import CertificateOwner, KeeperOptions, Leaf
from steward.certificates.worker_process import CertificateWorker
from steward.certificates.x509 import read_certificate
from steward.kube.bounded_cache import LruCache
from steward.kube.errors import NotFound
from steward.kube.objects.conditions import FALSE, TRUE, Condition
from steward.kube.objects.kinds import SECRET, Key, Ref
from steward.kube.objects.meta import key_of
from steward.kube.objects.timestamps import to_timestamp
from steward.multigres import names, reasons
from steward.multigres.api.group import API_VERSION
from steward.multigres.api.unset import or_default
from steward.multigres.cache_rules import SHARD
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.status_contributions import StatusContributor
from steward.multigres.controllers.repository_claims import RepositoryClaims
from steward.multigres.objects.metadata import CLUSTER_LABEL, component_labels
from steward.multigres.objects.repository.access import repository_address
from steward.multigres.objects.repository.claims import has_repository_host
from steward.multigres.objects.shard_inputs import certificate_secret, shard_path
from steward.multigres.resolution import defaults
from steward.multigres.rollout.backup_certificates import (
    IMMEDIATELY,
    SETTLE_SECONDS,
    CertificateDigests,
    certificate_digests,
    certificate_in_use,
    certificate_status,
)
from steward.multigres.status.conditions import CERTIFICATES_READY
from steward.multigres.views import ShardView
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.predicates import any_change
from steward.runtime.controller.triggers import For, Owns
from steward.runtime.plan.steps import Plan, Requeue, Status
from steward.runtime.reconcile import DONE, Result

FIELD_MANAGER = "multigres-certificates"
COMPONENT = "pgbackrest-tls"
NEEDED_KEYS = ("ca.crt", "tls.crt", "tls.key")
RECHECK_SECONDS = 60.0
MISSING_SECONDS = 5.0
EXPIRIES_CACHED = 10_000


class CertificateReconciler:
    def __init__(
        self, context: MultigresContext, executor: StatusContributor, worker: CertificateWorker
    ) -> None:
        self.context = context
        self.executor = executor
        self.worker = worker
        self.shards = context.store(context.rules.shard)
        self.repositories = RepositoryClaims(context)
        self._expiries: LruCache[str, str] = LruCache(EXPIRIES_CACHED)
        self._checked: LruCache[Key, int] = LruCache(EXPIRIES_CACHED)
        """What the certificates of a shard have to be, as a hash, at the last check that succeeded."""

    def controller(self) -> Controller:
        rules = self.context.rules
        # The cache holds no data of Secrets: only a new version shows that the data has changed.
        triggers = (For(rules.shard), Owns(rules.secret, when=any_change))
        return Controller("certificates", self, triggers, depth=2)

    async def reconcile(self, key: Key) -> Result:
        shard = self.shards.get(key)
        if shard is None or shard.metadata.deletion_timestamp is not None:
            return DONE
        if self.context.paused.includes(Ref(SHARD, key)):
            return DONE
        plan = await (self._check_user_secret(shard) if _has_user_secret(shard) else self._renew(shard))
        return (await self.executor.execute(plan, Ref(SHARD, key))).result

    async def _check_user_secret(self, shard: ShardView) -> Plan:
        name = certificate_secret(shard)
        try:
            secret = await self.context.client.get(SECRET, Key(shard.metadata.namespace, name))
        except NotFound:
            needed = ", ".join(NEEDED_KEYS)
            return self._missing_plan(
                shard, f"Secret {name} does not exist; create it with the keys {needed}"
            )
        data = secret.get("data") or {}
        missing = [key for key in NEEDED_KEYS if not data.get(key)]
        if missing:
            needed = ", ".join(NEEDED_KEYS)
            return self._missing_plan(shard, f"Secret {name} lacks {', '.join(missing)}; it needs {needed}")
        certificate, bundle = (base64.b64decode(data[key]) for key in ("tls.crt", "ca.crt"))
        live = certificate_digests(certificate, bundle)
        fields = certificate_status(shard.status, self._certificate_in_use(shard, live, IMMEDIATELY))
        fields |= await self._expiry(live.leaf, certificate)
        return (*self._valid_steps(shard, f"Secret {name} holds all keys", fields), Requeue(RECHECK_SECONDS))

    async def _renew(self, shard: ShardView) -> Plan:
        key, options = key_of(shard), keeper_options(shard, self._host_names(shard))
        if self._checked.get(key) == hash(options.leaves):
            # Before the check, which takes another process: the Shard would write a second status after it.
            self.executor.confirm(Ref(SHARD, key), shard.metadata.generation)
        keeper = CertificateKeeper(self.context.client, options, self.context.clock, worker=self.worker)
        try:
            state = await keeper.check()
        except CertificateError as error:
            self._checked.forget(key)
            steps = self._missing_steps(shard, str(error))
            return (*steps, Requeue(RECHECK_SECONDS))
        self._checked.set(key, hash(options.leaves))
        certificate = state.leaves[certificate_secret(shard)].certificate
        live = certificate_digests(certificate, state.bundle)
        fields = certificate_status(shard.status, self._certificate_in_use(shard, live, SETTLE_SECONDS))
        fields |= await self._expiry(live.leaf, certificate)
        message = "the backup service has valid certificates"
        return (*self._valid_steps(shard, message, fields), Requeue(state.next_check))

    def _host_names(self, shard: ShardView) -> tuple[str, ...]:
        """The names of the pod that serves the repository, if the shard has one."""
        inputs = self.repositories.inputs(shard)
        if not has_repository_host(inputs):
            return ()
        return (repository_address(inputs.path, shard.metadata.namespace),)

    async def _expiry(self, digest: str, certificate: bytes) -> dict[str, str]:
        """Read once for each certificate: that takes another process."""
        known = self._expiries.get(digest)
        if known is None:
            async with self.worker() as call:
                facts = await call(read_certificate, certificate)
            known = "" if facts is None else to_timestamp(facts.not_after)
            self._expiries.set(digest, known)
        return {"backupCertificateExpiry": known} if known else {}

    def _certificate_in_use(self, shard: ShardView, live: CertificateDigests, settle_seconds: float) -> str:
        previous = or_default(shard.status.backup_certificate, "")
        return certificate_in_use(previous, live, self.context.clock.now(), settle_seconds)

    def _missing_plan(self, shard: ShardView, message: str) -> Plan:
        return (*self._missing_steps(shard, message), Requeue(MISSING_SECONDS))

    def _missing_steps(self, shard: ShardView, message: str) -> Plan:
        condition = self._condition(shard, FALSE, reasons.CERTIFICATES_MISSING, message)
        return _status_steps(shard, condition, certificate_status(shard.status, ""))

    def _valid_steps(self, shard: ShardView, message: str, fields: dict[str, Any]) -> Plan:
        return _status_steps(shard, self._condition(shard, TRUE, reasons.CERTIFICATES_VALID, message), fields)

    def _condition(self, shard: ShardView, status: str, reason: str, message: str) -> Condition:
        generation, now = shard.metadata.generation, self.context.now()
        return Condition(CERTIFICATES_READY, status, reason, message, generation, now)


def _status_steps(shard: ShardView, condition: Condition, fields: dict[str, Any]) -> Plan:
    return (Status(Ref(SHARD, key_of(shard)), {"conditions": [condition.manifest()], **fields}),)


def _has_user_secret(shard: ShardView) -> bool:
    return or_default(shard.spec.backup, defaults.BACKUP).pgbackrest_tls is not UNSET


def keeper_options(shard: ShardView, host_names: tuple[str, ...] = ()) -> KeeperOptions:
    meta = shard.metadata
    leaf = Leaf(
        certificate_secret(shard),
        dns_names=("pgbackrest", *_server_names(shard), *host_names),
        usages=(Usage.SERVER, Usage.CLIENT),
    )
    return KeeperOptions(
        meta.namespace,
        f"{meta.name}-pgbackrest-ca",
        (leaf,),
        organization="Multigres",
        component="pgbackrest",
        owner=CertificateOwner(API_VERSION, "Shard", meta.name, meta.uid),
        labels=component_labels(meta.labels.get(CLUSTER_LABEL, ""), COMPONENT),
        manager=FIELD_MANAGER,
    )


def _server_names(shard: ShardView) -> list[str]:
    """The DNS names under which the Postgres servers of the shard reach each other."""
    path, namespace = shard_path(shard), shard.metadata.namespace
    services = [
        names.pool_headless(path, pool, cell)
        for pool, spec in sorted(or_default(shard.spec.pools, {}).items())
        for cell in sorted(or_default(spec.cells, []))
    ]
    domains = [f"*.{service}.{namespace}.svc" for service in services]
    return [name for domain in domains for name in (domain, f"{domain}.cluster.local")]
