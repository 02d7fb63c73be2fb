"""What is reported about certificates of gateways, and for which names the operator makes them."""

import base64
import time
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from steward.certificates.authority import Profile, Subject, Validity, make_self_signed
from steward.certificates.options import DAY
from steward.certificates.worker_process import in_this_process
from steward.certificates.x509 import read_certificate
from steward.kube.cache.store import Store
from steward.kube.errors import NotFound
from steward.kube.objects.kinds import Key, Kind, Ref
from steward.kube.objects.timestamps import to_timestamp
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.cache_rules import CLUSTER, MultigresCacheRules
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.status_contributions import StatusContributions
from steward.multigres.controllers.gateway_certificates import GatewayCertificateReconciler, keeper_options
from steward.multigres.views import ClusterView
from steward.runtime.reconcile import DONE, RequeueAfter
from steward.testkit.clock import FakeClock

KEY = Key("ns", "c")
OWN = {"enabled": True, "secretName": "own"}


class Cluster:
    def __init__(
        self, tls: dict[str, Any] | None, secret: dict[str, bytes] | None = None, **status: Any
    ) -> None:
        rules = MultigresCacheRules("")
        self._stores: dict[Kind, Store[Any]] = {
            rule.kind: Store(rule) for rule in (rules.cluster, rules.secret)
        }
        self._secret = secret
        spec = {"cells": [{"zone": "a"}], **({} if tls is None else {"gatewayTls": tls})}
        metadata = {"name": "c", "namespace": "ns", "uid": "u", "resourceVersion": "1"}
        manifest = {"apiVersion": CLUSTER.api_version, "kind": CLUSTER.kind, "metadata": metadata}
        body = msgspec.json.encode({**manifest, "spec": spec, "status": status})
        self._stores[CLUSTER].observe_write(body)
        self.contributions = StatusContributions()
        context = SimpleNamespace(
            rules=rules,
            store=lambda rule: self._stores[rule.kind],
            clock=FakeClock(),
            client=SimpleNamespace(get=self._get),
            paused=SimpleNamespace(includes=lambda ref: False),
            contributions=self.contributions,
        )
        self.reconciler = GatewayCertificateReconciler(cast(MultigresContext, context), in_this_process)

    async def _get(self, kind: Kind, key: Key) -> dict[str, Any]:
        if self._secret is None:
            raise NotFound.__new__(NotFound)
        return {"data": {name: base64.b64encode(value).decode() for name, value in self._secret.items()}}

    def status(self) -> dict[str, Any]:
        previous: ClusterView = self._stores[CLUSTER].get(KEY)
        written = {"conditions": []}
        return dict(self.contributions.merge_into(Ref(CLUSTER, KEY), previous.status, written, "now"))


async def test_the_end_of_a_certificate_of_the_user_is_reported() -> None:
    profile = Profile(Subject("c"), dns_names=("c",))
    certificate = make_self_signed(profile, Validity(time.time(), time.time() + DAY)).certificate
    facts = read_certificate(certificate)
    assert facts is not None
    cluster = Cluster(OWN, {"tls.crt": certificate})
    assert await cluster.reconciler.reconcile(KEY) == RequeueAfter(60.0)
    status = cluster.status()
    assert status["gatewayCertificateExpiry"] == to_timestamp(facts.not_after)
    [condition] = status["conditions"]
    assert (condition["type"], condition["status"]) == ("GatewayCertificateReady", "True")


@pytest.mark.parametrize(
    "secret", [None, {}, {"tls.crt": b"text"}], ids=["missing", "empty", "no-certificate"]
)
async def test_a_secret_without_a_certificate_is_reported_with_the_cure(
    secret: dict[str, bytes] | None,
) -> None:
    cluster = Cluster(OWN, secret)
    await cluster.reconciler.reconcile(KEY)
    [condition] = cluster.status()["conditions"]
    assert condition["status"] == "False"
    assert condition["message"] == "Secret own has no certificate under the key tls.crt; put one there"


@pytest.mark.parametrize("tls", [None, {"enabled": False}], ids=["unset", "off"])
async def test_what_an_earlier_process_reported_ends_with_tls(tls: dict[str, Any] | None) -> None:
    cluster = Cluster(tls, gatewayCertificateExpiry="2027-01-01T00:00:00Z")
    assert await cluster.reconciler.reconcile(KEY) == DONE
    assert cluster.status() == {"conditions": []}


def test_a_certificate_is_made_for_the_names_of_the_service_and_external_addresses() -> None:
    spec = msgspec.convert(
        {
            "cells": [{"zone": "a"}],
            "gatewayTls": {"enabled": True},
            "externalGateway": {"enabled": True, "externalIPs": ["192.0.2.7"]},
        },
        MultigresClusterSpec,
    )
    view = msgspec.convert({"metadata": {"name": "c", "namespace": "ns", "uid": "u"}}, ClusterView)
    [leaf] = keeper_options(view, spec).leaves
    profile = leaf.profile("ns", "Multigres")
    host = "c-multigateway"
    assert set(profile.dns_names) == {host, f"{host}.ns", f"{host}.ns.svc", f"{host}.ns.svc.cluster.local"}
    assert profile.ip_addresses == ("192.0.2.7",)
