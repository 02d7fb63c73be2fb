"""Certificates of the backup service: one authority and one leaf a shard, renewed on a timer of their own.

A user's own Secret is only looked at, live, because it carries no label of ours: that it is there and whole is told in
the Shard's status. Ours are made and renewed by the certificate keeper, whether or not the shard has anything to do.
"""

import base64

from msgspec import UNSET

from steward.certificates.authority import Usage
from steward.certificates.errors import CertificateError
from steward.certificates.keeper import CertificateKeeper
from steward.certificates.options import KeeperOptions, Leaf, Owner
from steward.certificates.worker_process import Notary
from steward.kube.errors import NotFound
from steward.kube.objects.conditions import FALSE, TRUE, Condition
from steward.kube.objects.kinds import SECRET, Key, Ref
from steward.multigres import names, reasons
from steward.multigres.api.group import API_VERSION
from steward.multigres.cache_rules import SHARD
from steward.multigres.controllers.common.context import ControllerContext
from steward.multigres.controllers.common.status_contributions import RemarkCarrier
from steward.multigres.controllers.shard.reconciler import certificate_secret, shard_path
from steward.multigres.objects.metadata import CLUSTER, labels
from steward.multigres.resolution import defaults
from steward.multigres.resolution.layers import given
from steward.multigres.rollout.backup_certificates import AT_ONCE, in_use, noted, present
from steward.multigres.status.conditions import CERTIFICATES_READY
from steward.multigres.views import ShardView
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.predicates import anything
from steward.runtime.controller.triggers import For, Owns
from steward.runtime.plan.steps import Plan, Requeue, Status
from steward.runtime.reconcile import DONE, Result

FIELD_MANAGER = "multigres-certificates"
COMPONENT = "pgbackrest-tls"
NEEDED_KEYS = ("ca.crt", "tls.crt", "tls.key")
LOOK_AGAIN_SECONDS = 60.0
MISSING_SECONDS = 5.0


class CertificateReconciler:
    def __init__(self, context: ControllerContext, executor: RemarkCarrier, notary: Notary) -> None:
        self.context = context
        self.executor = executor
        self.notary = notary
        self.shards = context.store(context.rules.shard)

    def controller(self) -> Controller:
        rules = self.context.rules
        # The cache holds no Secret's data: what was done to it shows in its version alone.
        return Controller("certificates", self, (For(rules.shard), Owns(rules.secret, when=anything)))

    async def reconcile(self, key: Key) -> Result:
        shard = self.shards.get(key)
        if shard is None or shard.metadata.deletion_timestamp is not None:
            return DONE
        plan = await (self._users_own(shard) if _brings_its_own(shard) else self._ours(shard))
        return (await self.executor.execute(plan, Ref(SHARD, key))).result

    async def _users_own(self, shard: ShardView) -> Plan:
        name = certificate_secret(shard)
        soon = (Requeue(MISSING_SECONDS),)
        try:
            found = await self.context.client.get(SECRET, Key(shard.metadata.namespace, name))
        except NotFound:
            told = f"Secret {name} does not exist; create it with the keys {', '.join(NEEDED_KEYS)}"
            return (*self._told(shard, FALSE, reasons.CERTIFICATES_MISSING, told), *soon)
        data = found.get("data") or {}
        missing = [key for key in NEEDED_KEYS if not data.get(key)]
        if missing:
            told = f"Secret {name} lacks {', '.join(missing)}; it needs {', '.join(NEEDED_KEYS)}"
            return (*self._told(shard, FALSE, reasons.CERTIFICATES_MISSING, told), *soon)
        seen = present(*(base64.b64decode(data[key]) for key in ("tls.crt", "ca.crt")))
        digest = in_use(given(shard.status.backup_certificate, ""), seen, self.context.clock.now(), AT_ONCE)
        told = f"Secret {name} holds all keys"
        valid = self._told(shard, TRUE, reasons.CERTIFICATES_VALID, told, digest)
        return (*valid, Requeue(LOOK_AGAIN_SECONDS))

    async def _ours(self, shard: ShardView) -> Plan:
        keeper = CertificateKeeper(
            self.context.client, keeper_options(shard), self.context.clock, notary=self.notary
        )
        try:
            kept = await keeper.check()
        except CertificateError as error:
            told = self._told(shard, FALSE, reasons.CERTIFICATES_MISSING, str(error))
            return (*told, Requeue(LOOK_AGAIN_SECONDS))
        seen = present(kept.leaves[certificate_secret(shard)].certificate, kept.bundle)
        digest = in_use(given(shard.status.backup_certificate, ""), seen, self.context.clock.now())
        told = self._told(
            shard, TRUE, reasons.CERTIFICATES_VALID, "the backup service has valid certificates", digest
        )
        return (*told, Requeue(kept.next_check))

    def _told(self, shard: ShardView, status: str, reason: str, message: str, digest: str = "") -> Plan:
        generation, now = shard.metadata.generation, self.context.now()
        condition = Condition(CERTIFICATES_READY, status, reason, message, generation, now)
        key = Key(shard.metadata.namespace, shard.metadata.name)
        seen = noted(shard.status, digest)
        return (Status(Ref(SHARD, key), {"conditions": [condition.manifest()], **seen}),)


def _brings_its_own(shard: ShardView) -> bool:
    return given(shard.spec.backup, defaults.BACKUP).pgbackrest_tls is not UNSET


def keeper_options(shard: ShardView) -> KeeperOptions:
    meta = shard.metadata
    leaf = Leaf(
        certificate_secret(shard),
        dns_names=("pgbackrest", *_server_names(shard)),
        usages=(Usage.SERVER, Usage.CLIENT),
    )
    return KeeperOptions(
        meta.namespace,
        f"{meta.name}-pgbackrest-ca",
        (leaf,),
        organization="Multigres",
        component="pgbackrest",
        owner=Owner(API_VERSION, "Shard", meta.name, meta.uid),
        labels=labels(meta.labels.get(CLUSTER, ""), COMPONENT),
        manager=FIELD_MANAGER,
    )


def _server_names(shard: ShardView) -> list[str]:
    """Every Postgres server of the shard, by the names under which the others reach it."""
    path, namespace = shard_path(shard), shard.metadata.namespace
    services = [
        names.pool_headless(path, pool, cell)
        for pool, shape in sorted(given(shard.spec.pools, {}).items())
        for cell in sorted(given(shape.cells, []))
    ]
    domains = [f"*.{service}.{namespace}.svc" for service in services]
    return [name for domain in domains for name in (domain, f"{domain}.cluster.local")]
