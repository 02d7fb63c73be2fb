"""Certificates of the backup service: one authority and one leaf a shard, renewed on a timer of their own.

A user's own Secret is only looked at, live, because it carries no label of ours: that it is there and whole is told in
the Shard's status. Ours are made and renewed by the certificate keeper, whether or not the shard has anything to do.
"""

import base64
import hashlib
from typing import Any, NamedTuple

from msgspec import UNSET

from steward.admission.authority import Usage
from steward.admission.errors import CertificateError
from steward.admission.keeper import CertificateKeeper
from steward.admission.keeper_options import KeeperOptions, Leaf, Lifetimes, Owner
from steward.kube.conditions import FALSE, TRUE, Condition, set_condition
from steward.kube.errors import NotFound
from steward.kube.kinds import SECRET, Key, Ref
from steward.multigres import constants, names, reasons
from steward.multigres.api.group import API_VERSION
from steward.multigres.api.shard import ShardStatus
from steward.multigres.controllers.ground import Ground
from steward.multigres.controllers.shard import certificate_secret, shard_path
from steward.multigres.layers import given
from steward.multigres.objects.metadata import CLUSTER, labels
from steward.multigres.rules import SHARD
from steward.multigres.status import CERTIFICATES_READY, read_conditions
from steward.multigres.views import ShardView
from steward.runtime.carry import Carrier
from steward.runtime.controller import Controller
from steward.runtime.plan import Plan, Requeue, Status
from steward.runtime.predicates import anything
from steward.runtime.reconcile import DONE, Result
from steward.runtime.triggers import For, Owns

FIELD_MANAGER = "multigres-certificates"
COMPONENT = "pgbackrest-tls"
NEEDED_KEYS = ("ca.crt", "tls.crt", "tls.key")
LOOK_AGAIN_SECONDS = 60.0
CALM_SECONDS = (Lifetimes.leaf - Lifetimes.renew_before) / 2


class CertificateReconciler:
    def __init__(self, ground: Ground, carrier: Carrier) -> None:
        self.ground = ground
        self.carrier = carrier
        self.shards = ground.store(ground.rules.shard)

    def controller(self) -> Controller:
        rules = self.ground.rules
        # The cache holds no Secret's data: what was done to it shows in its version alone.
        return Controller("certificates", self, (For(rules.shard), Owns(rules.secret, when=anything)))

    async def reconcile(self, key: Key) -> Result:
        shard = self.shards.get(key)
        if shard is None or shard.metadata.deletion_timestamp is not None:
            return DONE
        plan = await (self._users_own(shard) if _brings_its_own(shard) else self._ours(shard))
        return (await self.carrier.carry_out(plan, Ref(SHARD, key))).result

    async def _users_own(self, shard: ShardView) -> Plan:
        name = certificate_secret(shard)
        again = (Requeue(LOOK_AGAIN_SECONDS),)
        try:
            found = await self.ground.client.get(SECRET, Key(shard.metadata.namespace, name))
        except NotFound:
            told = f"Secret {name} does not exist; create it with the keys {', '.join(NEEDED_KEYS)}"
            return (*self._told(shard, FALSE, reasons.CERTIFICATES_MISSING, told), *again)
        data = found.get("data") or {}
        missing = [key for key in NEEDED_KEYS if not data.get(key)]
        if missing:
            told = f"Secret {name} lacks {', '.join(missing)}; it needs {', '.join(NEEDED_KEYS)}"
            return (*self._told(shard, FALSE, reasons.CERTIFICATES_MISSING, told), *again)
        digest, told = digest_of(data["tls.crt"]), f"Secret {name} holds all keys"
        return (*self._told(shard, TRUE, reasons.CERTIFICATES_VALID, told, digest), *again)

    async def _ours(self, shard: ShardView) -> Plan:
        keeper = CertificateKeeper(self.ground.client, keeper_options(shard), self.ground.clock)
        try:
            kept = await keeper.check()
        except CertificateError as error:
            told = self._told(shard, FALSE, reasons.CERTIFICATES_MISSING, str(error))
            return (*told, Requeue(LOOK_AGAIN_SECONDS))
        leaf = digest_of(base64.b64encode(kept.leaves[certificate_secret(shard)].certificate).decode())
        present = Present(leaf, digest_of(base64.b64encode(kept.bundle).decode()))
        digest = in_use(given(shard.status.backup_certificate, ""), present, self.ground.clock.now())
        told = self._told(
            shard, TRUE, reasons.CERTIFICATES_VALID, "the backup service has valid certificates", digest
        )
        return (*told, Requeue(kept.next_check))

    def _told(self, shard: ShardView, status: str, reason: str, message: str, digest: str = "") -> Plan:
        condition = Condition(CERTIFICATES_READY, status, reason, message, shard.metadata.generation)
        before = tuple(c for c in read_conditions(shard.status.conditions) if c.type == CERTIFICATES_READY)
        [stamped] = set_condition(before, condition, self.ground.now())
        key = Key(shard.metadata.namespace, shard.metadata.name)
        seen = noted(shard.status, digest)
        return (Status(Ref(SHARD, key), {"conditions": [stamped.manifest()], **seen}),)


def digest_of(certificate: str) -> str:
    """Of a certificate as a Secret holds it."""
    return hashlib.sha256(certificate.encode()).hexdigest()[:16]


class Present(NamedTuple):
    """Digests of the certificate in our Secret and of the authorities behind it."""

    leaf: str
    bundle: str


def in_use(before: str, present: Present, now: float) -> str:
    """The certificate that the servers may go on using: `leaf.bundle.until`.

    One that was made only because a pool or a cell came or went says nothing new to those who are there, and replacing
    every server for it would be a high price. But they must not run on the old one until it expires: half the time to a
    usual renewal later the present one is due, so that a renewal never falls into the time in which changes are let be.
    """
    leaf, bundle, until = (*before.split("."), "", "")[:3]
    is_known = before.count(".") == 2 and until.isdigit()
    if is_known and (leaf == present.leaf or (bundle == present.bundle and now < float(until))):
        return before
    return f"{present.leaf}.{present.bundle}.{now + CALM_SECONDS:.0f}"


def noted(before: ShardStatus, digest: str) -> dict[str, Any]:
    """Which certificate is in use and how often that changed; while there is none, what was known stays."""
    known, renewals = given(before.backup_certificate, ""), given(before.backup_certificate_renewals, 0)
    if digest and known and digest != known:
        renewals += 1
    current = digest or known
    return {"backupCertificate": current, "backupCertificateRenewals": renewals} if current else {}


def _brings_its_own(shard: ShardView) -> bool:
    return given(shard.spec.backup, constants.BACKUP).pgbackrest_tls is not UNSET


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
