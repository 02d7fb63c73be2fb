"""Tenants whose Deployments really run: the status, `steward why` and events say what happens to their pods."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.support.container_cluster import ContainerCluster
from tests.e2e.support.installation import Installation
from tests.e2e.support.tenants import NO_IMAGE, Manifest, Shop, deployment, job, pod_spec, resource, template
from tests.e2e.support.waiting import eventually
from tests.support.database_servers import DatabaseServer

# A few seconds on an idle machine, up to ten more for a status of which only the text changes.
SOON = 60.0

CRASH_LOOP = r"(CrashLoopBackOff|in Error \(restarted \d+ times\))"
"""A container of a crash loop is now in its pause, now in the end of its next run."""


@pytest.fixture
def shop(cluster: ContainerCluster, installation: Installation, database: DatabaseServer, pods: str) -> Shop:
    return Shop(cluster, pods, database)


def until_why(shop: Shop, tenant: str, pattern: str) -> None:
    """Wait until `steward why` says this."""
    said = [""]

    def says() -> bool:
        said[0] = shop.why(tenant)
        return re.search(pattern, said[0]) is not None

    eventually(says, lambda: f"why matches {pattern!r} (it says: {said[0]})", SOON)


def until_ready(shop: Shop, tenant: str) -> None:
    eventually(lambda: shop.is_ready(tenant), f"Tenant {tenant} is ready", SOON)


def until_not_ready(shop: Shop, tenant: str, has: Callable[[Manifest], bool]) -> Manifest:
    def found() -> Manifest | None:
        condition = shop.condition(tenant, "Ready")
        return condition if condition["status"] == "False" and has(condition) else None

    return eventually(found, f"Tenant {tenant} is not ready", SOON) or {}


def test_a_row_becomes_an_application_that_answers(shop: Shop) -> None:
    shop.apply(template("web", deployments=[deployment("web", message="hello {{ .host }}")]))
    shop.add("acme")
    until_ready(shop, "acme-web")
    assert "hello acme.example.com" in answer(shop, "acme-web")
    assert "TenantReady: all 1 resources are ready" in shop.events("acme-web")


def answer(shop: Shop, app: str) -> str:
    """What the pod with this label answers, through the API server."""
    selector = ("-n", shop.namespace, "-l", f"app={app}")
    [pod] = shop.cluster.kubectl.json("get", "pods", *selector)["items"]
    name = pod["metadata"]["name"]
    path = f"/api/v1/namespaces/{shop.namespace}/pods/{name}:8080/proxy/"
    return shop.cluster.kubectl.server.call("GET", path).body.decode()


def test_a_probe_that_begins_to_fail_makes_a_ready_tenant_unready(shop: Shop) -> None:
    shop.apply(template("probe", deployments=[deployment("probe", fail_ready_after="8")]))
    shop.add("acme")
    until_ready(shop, "acme-probe")
    condition = until_not_ready(shop, "acme-probe", lambda found: True)
    assert condition["message"] == "0 of 1 resources are ready; probe: 0 of 1 replicas are available"
    until_why(
        shop, "acme-probe", r"because of Pod acme-probe-\S+ .*unready status.*To do: see why its probe fails"
    )


def test_a_crash_loop_is_named_with_its_pod_and_where_to_look(shop: Shop) -> None:
    shop.apply(template("crash", deployments=[deployment("crash", job="true", exit_code="3")]))
    shop.add("acme")
    until_not_ready(shop, "acme-crash", lambda found: "0 of 1 replicas are available" in found["message"])
    until_why(
        shop, "acme-crash", rf"because of Pod acme-crash-\S+ .*{CRASH_LOOP}.*kubectl .*logs .* --previous"
    )


def test_of_two_failing_tenants_each_is_explained_by_its_own_pod(shop: Shop) -> None:
    shop.apply(template("crash", deployments=[deployment("crash", job="true", exit_code="3")]))
    shop.add("acme")
    shop.add("beta")
    for tenant in ("acme-crash", "beta-crash"):
        until_why(shop, tenant, rf"because of Pod {tenant}-\S+ .*{CRASH_LOOP}")


def test_an_image_that_cannot_be_pulled_is_named(shop: Shop) -> None:
    shop.apply(template("image", deployments=[deployment("image", image=NO_IMAGE)]))
    shop.add("acme")
    until_not_ready(shop, "acme-image", lambda found: "0 of 1 replicas are available" in found["message"])
    until_why(
        shop,
        "acme-image",
        rf"(ErrImagePull|ImagePullBackOff) .*{NO_IMAGE}.*To do: correct the image of container app in TenantTemplate",
    )


def test_an_image_that_cannot_be_pulled_fails_after_the_timeout(shop: Shop) -> None:
    app = deployment("image", image=NO_IMAGE) | {"timeoutSeconds": 5}
    shop.apply(template("image", deployments=[app]))
    shop.add("acme")
    condition = until_not_ready(shop, "acme-image", lambda found: found["reason"] == "ResourcesFailed")
    assert "image: not ready within 5 seconds: 0 of 1 replicas are available" in condition["message"]
    eventually(
        lambda: any(event.startswith("ReadinessTimeout: image") for event in shop.events("acme-image")),
        "an event says so",
        SOON,
    )


def test_a_job_that_ends_makes_its_tenant_ready(shop: Shop) -> None:
    after = deployment("after") | {"dependIds": ["migrate"]}
    shop.apply(template("web", jobs=[job("migrate", run="2s")], deployments=[after]))
    shop.add("acme")
    until_not_ready(shop, "acme-web", lambda found: True)
    until_ready(shop, "acme-web")


def test_a_job_that_fails_fails_its_tenant_and_nothing_after_it_is_applied(shop: Shop) -> None:
    after = deployment("after") | {"dependIds": ["migrate"]}
    shop.apply(template("web", jobs=[job("migrate", exit_code="4")], deployments=[after]))
    shop.add("acme")
    condition = until_not_ready(shop, "acme-web", lambda found: found["reason"] == "ResourcesFailed")
    assert "migrate: Job has reached the specified backoff limit" in condition["message"]
    assert shop.cluster.kubectl.json("get", "deployments", "-n", shop.namespace)["items"] == []
    until_why(shop, "acme-web", r"has failed .*migrate: Job has reached the specified backoff limit")


def claim(**fields: Any) -> Manifest:
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "standard-wait"}
    return resource(
        "data", "PersistentVolumeClaim", spec | {"resources": {"requests": {"storage": "1Gi"}}}, **fields
    )


def with_volume(name: str, **fields: Any) -> Manifest:
    """A Deployment whose unprivileged pod uses the claim."""
    app = deployment(name) | fields
    pod = pod_spec(app)
    pod["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "{{ .uid }}-data"}}]
    pod["securityContext"] = {"fsGroup": 65532}
    pod["containers"][0]["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
    return app


def test_a_claim_that_waits_for_the_first_pod_is_bound_with_it(shop: Shop) -> None:
    shop.apply(template("disk", persistentVolumeClaims=[claim()], deployments=[with_volume("disk")]))
    shop.add("acme")
    until_ready(shop, "acme-disk")
    [bound] = shop.cluster.kubectl.json("get", "pvc", "-n", shop.namespace)["items"]
    assert bound["status"]["phase"] == "Bound"


def test_a_deployment_that_waits_for_a_claim_which_waits_for_its_pod_becomes_ready(shop: Shop) -> None:
    waiting = with_volume("disk", dependIds=["data"])
    shop.apply(template("disk", persistentVolumeClaims=[claim()], deployments=[waiting]))
    shop.add("acme")
    until_ready(shop, "acme-disk")


def ingress(**fields: Any) -> Manifest:
    backend = {"service": {"name": "{{ .uid }}-web", "port": {"number": 80}}}
    rule = {
        "host": "{{ .host }}",
        "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]},
    }
    return resource("entry", "Ingress", {"rules": [rule]}, **fields)


def test_an_ingress_without_a_controller_is_reported_until_it_has_an_address(shop: Shop) -> None:
    ports = [{"port": 80, "targetPort": 8080}]
    service = resource("web", "Service", {"selector": {"app": "{{ .uid }}-app"}, "ports": ports})
    shop.apply(template("net", deployments=[deployment("app")], services=[service], ingresses=[ingress()]))
    shop.add("acme")
    condition = until_not_ready(shop, "acme-net", lambda found: "entry: has no" in found["message"])
    assert "2 of 3 resources are ready; entry: has no load balancer address" in condition["message"]
    until_why(shop, "acme-net", r"Ingress acme-entry .*has no load balancer address; set waitForReady: false")
    give_address(shop, "acme-entry")
    until_ready(shop, "acme-net")


def give_address(shop: Shop, name: str) -> None:
    """As an ingress controller does."""
    status = {"status": {"loadBalancer": {"ingress": [{"ip": "10.88.0.1"}]}}}
    patch = ("patch", "ingress", name, "-n", shop.namespace, "--subresource=status", "--type=merge")
    shop.cluster.kubectl(*patch, "-p", json.dumps(status))


def test_a_removed_row_ends_its_pods_in_order(shop: Shop) -> None:
    shop.apply(template("web", deployments=[deployment("web")]))
    shop.add("acme")
    until_ready(shop, "acme-web")
    shop.remove("acme")
    eventually(
        lambda: shop.cluster.kubectl.json("get", "pods", "-n", shop.namespace)["items"] == [],
        "pods are gone",
        SOON,
    )
    eventually(lambda: shop.tenant("acme-web") == {}, "the Tenant is gone", SOON)
