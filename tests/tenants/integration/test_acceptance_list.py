"""The acceptance list with one operator in one namespace: from rows and templates to objects, statuses and metrics.

Each scenario has a table, a registry and a template of its own, all with the same name. All scenarios start together,
so that one becomes ready while another is tested.
"""

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from steward.local.ports import free_ports
from steward.multigres.api.kinds import CUSTOM_KINDS as MULTIGRES_KINDS
from tests.multigres.support.scraping import sample
from tests.support import definitions, namespaces
from tests.support.kubectl import Kubectl
from tests.tenants.support.customers import FILE, Customers, World, sqlite_registry, until
from tests.tenants.support.fleet import (
    config_map,
    create_namespaces,
    deployment,
    namespace_manifest,
    resource,
    service,
)
from tests.tenants.support.impersonation import allow_impersonation
from tests.tenants.support.manifests import Manifest, template
from tests.tenants.support.operator import running_operator

pytestmark = pytest.mark.timeout(1200)

ACTIVE = ("1", "true", "TRUE", "True", "yes", "YES", "Yes", 1)
INACTIVE = ("0", "false", "", "on", "Y", "t", " 1", "1 ", "yEs", "2", None, 0)
LONG = "x" * 80
POD = {"containers": [{"name": "app", "image": "app:1"}]}


@dataclass
class Scenarios:
    world: World
    customers: Customers
    metrics: str
    """Address of the metrics server."""
    manifests: list[Manifest] = field(default_factory=list)
    """Applied together before the first test."""

    def add(self, scenario: str, rows: Sequence[tuple[Any, ...]], *columns: str, **spec: Any) -> None:
        """A table with these columns beside the usual three, its registry, and its template."""
        names = ", ".join(("id", "url", "active", *columns))
        self.customers.run(f"CREATE TABLE {scenario} ({names})")
        for row in rows:
            self.customers.run(f"INSERT INTO {scenario} VALUES ({', '.join('?' * len(row))})", *row)
        source = {"type": "sqlite", "syncInterval": "1s", "sqlite": {"file": FILE, "table": scenario}}
        guard = {"maxPercent": 100}
        registry = sqlite_registry(
            scenario,
            source=source,
            extraValueMappings={column: column for column in columns},
            deletionGuard=guard,
        )
        self.manifests += (registry, template(scenario, **{"registryId": scenario, "configMaps": [], **spec}))

    def tenants(self, scenario: str) -> set[str]:
        """The uids of Tenants that are not terminating."""
        found = self.world.tenants().values()
        return {
            item["spec"]["uid"]
            for item in found
            if item["spec"]["templateRef"] == scenario and "deletionTimestamp" not in item["metadata"]
        }

    def until_exists(self, kind: str, name: str) -> Any:
        return until(lambda: self.world.get(kind, name), lambda: (name, self.world.tenants()))

    def until_ready(self, tenant: str) -> dict[str, Any]:
        self.world.until_condition("Ready", "True", kind="tenant", name=tenant)
        return self.world.status("tenant", tenant)

    def set_status(self, kind: str, name: str, **status: Any) -> int:
        """Writes a status as the object's controller would; returns the object's version after that."""
        patch = json.dumps({"status": status})
        self.world.kubectl("patch", kind, name, "--subresource=status", "--type=merge", "-p", patch)
        return version(self.world.get(kind, name))

    def observe_generation(self, kind: str, name: str) -> int:
        """As a controller without conditions would report; returns the object's version after that."""
        self.until_exists(kind, name)
        generation = self.world.get(kind, name)["metadata"]["generation"]
        return self.set_status(kind, name, observedGeneration=generation)

    def metric(self, name: str, **labels: str) -> float:
        return sample(self.metrics, name, **labels, namespace=self.world.namespace)


def version(found: Manifest) -> int:
    return int(found["metadata"]["resourceVersion"])


def _create_account(world: World, name: str, resources: str) -> None:
    """A service account with all rights on these resources."""
    world.kubectl("create", "serviceaccount", name)
    world.kubectl("create", "role", name, "--verb=*", f"--resource={resources}")
    account = f"--serviceaccount={world.namespace}:{name}"
    world.kubectl("create", "rolebinding", name, f"--role={name}", account)


@pytest.fixture(scope="module")
def scenarios(
    control_plane: ControlPlane, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Scenarios]:
    definitions.install_crds(control_plane, kubectl, MULTIGRES_KINDS)
    directory: Path = tmp_path_factory.mktemp("operator")
    (namespace,) = create_namespaces(kubectl, 1)
    (port,) = free_ports(1)
    settings = {"metrics_bind_address": f"127.0.0.1:{port}", "metrics_secure": "false"}
    found = Scenarios(World(kubectl, namespace), Customers(directory), f"127.0.0.1:{port}")
    _create_account(found.world, "typed", "deployments.apps,controllerrevisions.apps,configmaps")
    allow_impersonation(kubectl, namespace, "typed")
    with running_operator(control_plane, namespace, directory / "operator.log", **settings):
        for begin in SCENARIOS:
            begin(found)
        found.world.apply(*found.manifests)
        yield found
        _delete_all(found, kubectl)


def _delete_all(scenarios: Scenarios, kubectl: Kubectl) -> None:
    """On an external control plane deletes all Tenants while the operator still runs."""
    if namespaces.external_control_plane():
        unguarded = json.dumps({"spec": {"deletionGuard": {"maxPercent": 100}}})
        scenarios.world.kubectl("patch", "tenantregistry", "walk", "--type=merge", "-p", unguarded)
        scenarios.world.kubectl("delete", "tenantregistries", "--all", "--wait=false")
        until(lambda: not scenarios.world.tenants(), scenarios.world.tenants)
    namespaces.release_namespace(kubectl.server, scenarios.world.namespace)


def _add_spellings(scenarios: Scenarios) -> None:
    rows = [(f"yes{number}", "x", text) for number, text in enumerate(ACTIVE)]
    rows += [(f"no{number}", "x", text) for number, text in enumerate(INACTIVE)]
    scenarios.add(
        "spellings", rows, configMaps=[resource("own", config_map(""), nameTemplate="{{ .uid }}-own")]
    )


def test_only_seven_spellings_and_nonzero_numbers_are_active(scenarios: Scenarios) -> None:
    status = until(
        lambda: found if (found := scenarios.world.status(name="spellings")).get("ready") else None
    )
    assert status["activeRows"] == status["desired"] == len(ACTIVE)
    active = {f"yes{number}" for number in range(len(ACTIVE))}
    until(lambda: scenarios.tenants("spellings") == active, scenarios.world.tenants)


def _add_figures(scenarios: Scenarios) -> None:
    part = resource("part", config_map(""), nameTemplate="{{ .uid }}-metric")
    scenarios.add("figures", [("one", "x", "1"), ("two", "x", "1")], configMaps=[part])


def test_metrics_follow_the_status_and_end_with_their_tenant(scenarios: Scenarios) -> None:
    until(lambda: scenarios.metric("registry_ready", registry="figures") == 2)
    assert scenarios.metric("registry_desired", registry="figures") == 2
    assert scenarios.metric("registry_failed", registry="figures") == 0
    one = {"tenant": "one-figures"}
    assert scenarios.metric("tenant_resources_ready", **one) == 1
    assert scenarios.metric("tenant_resources_desired", **one) == 1
    assert scenarios.metric("tenant_condition_status", type="Ready", **one) == 1
    attempts = {"kind": "ConfigMap", "result": "success", "conflict_policy": "Stuck"}
    assert sample(scenarios.metrics, "apply_attempts_total", **attempts) >= 2
    assert sample(scenarios.metrics, "tenant_reconcile_duration_seconds_count", result="success") >= 2

    scenarios.customers.run("UPDATE figures SET active = 'no' WHERE id = 'one'")
    until(lambda: scenarios.metric("tenant_resources_desired", **one) == 0)
    until(lambda: scenarios.metric("registry_desired", registry="figures") == 1)


def _add_typed(scenarios: Scenarios) -> None:
    app = deployment("", replicas=1)
    app["metadata"] = {"labels": {"kept": "{{ .count }}"}}
    app["spec"]["replicas"] = "{{ int .count }}"
    app["spec"]["selector"] = {"matchLabels": {"app": "{{ .uid }}"}}
    app["spec"]["template"]["metadata"] = {"labels": {"app": "{{ .uid }}"}}
    app["spec"]["template"]["spec"]["automountServiceAccountToken"] = "{{ bool .flag }}"
    # The only built-in kind with arbitrary content: a fraction stays a fraction there.
    free = {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "revision": "{{ int .count }}",
        "data": {
            "share": "{{ float .share }}",
            "flag": "{{ bool .flag }}",
            "spoiled": "{{ int .word }}",
            "absent": "{{ .nowhere | default 5 | int }}",
            "text": "{{ .count }}",
        },
    }
    words = {
        "where": "{{ .registryId }} {{ .hubId }} {{ .templateRef }} {{ .host }}",
        "manifest": "{{ upper .word }} {{ b64enc .word }} {{ sha1sum .word }} {{ .nowhere | default \"basic\" }}",
        "long": "{{ trunc63 .long }}",
        "number": "{{ int .count }}",
    }  # fmt: skip
    scenarios.add(
        "typed",
        [("acme", "https://acme.example.com:8443/path", "1", "2", "0.25", "yes", "many", LONG)],
        *("count", "share", "flag", "word", "long"),
        # Only an account may write ControllerRevisions, whose data has no schema.
        serviceAccountName="typed",
        deployments=[resource("app", app, nameTemplate="{{ .uid }}-typed")],
        manifests=[resource("free", free, nameTemplate="{{ .uid }}-free")],
        configMaps=[
            resource(
                "words",
                config_map("", **words),
                nameTemplate="{{ .uid }}-words",
                labelsTemplate={"plan": "{{ .word }}"},
                annotationsTemplate={"host": "{{ .host }}"},
            )
        ],
    )


def test_numbers_fractions_and_booleans_reach_fields_and_texts_stay_texts(scenarios: Scenarios) -> None:
    status = scenarios.until_ready("acme-typed")
    assert (status["readyResources"], status["desiredResources"]) == (3, 3)
    app = scenarios.world.get("deployment", "acme-typed")
    assert app["spec"]["replicas"] == 2
    assert app["spec"]["template"]["spec"]["automountServiceAccountToken"] is True
    assert app["metadata"]["labels"]["kept"] == "2"
    free = scenarios.world.get("controllerrevision", "acme-free")
    assert free["revision"] == 2
    assert free["data"] == {"share": 0.25, "flag": True, "spoiled": 0, "absent": 5, "text": "2"}


def test_functions_and_the_origin_of_a_row_reach_data_labels_and_annotations(scenarios: Scenarios) -> None:
    found = scenarios.until_exists("configmap", "acme-words")
    encoded, digest = base64.b64encode(b"many").decode(), hashlib.sha1(b"many").hexdigest()
    assert found["data"] == {
        "where": "typed typed typed acme.example.com",
        "manifest": f"MANY {encoded} {digest} basic",
        "long": LONG[:63],
        "number": "2",
    }
    assert found["metadata"]["labels"]["plan"] == "many"
    assert found["metadata"]["annotations"]["host"] == "acme.example.com"


DIAMOND = {
    "top": ["left", "right"],
    "left": ["base"],
    "right": ["base"],
    "base": [],
    "sink": ["one", "two", "three"],
    "one": [],
    "two": [],
    "three": [],
}


def _add_diamond(scenarios: Scenarios) -> None:
    """The last object is listed first, so that the order of the list is not the order of creation."""
    parts = [
        resource(id, config_map(""), nameTemplate="{{ .uid }}-" + id, dependIds=needed)
        for id, needed in DIAMOND.items()
    ]
    scenarios.add("diamond", [("acme", "x", "1")], configMaps=parts)


def test_a_chain_a_fan_in_and_a_diamond_are_created_in_order(scenarios: Scenarios) -> None:
    scenarios.until_ready("acme-diamond")
    # A ConfigMap is not changed after its creation, and versions only increase.
    manifest = {id: version(scenarios.world.get("configmap", f"acme-{id}")) for id in DIAMOND}
    late = [(id, each) for id, needed in DIAMOND.items() for each in needed if manifest[each] > manifest[id]]
    assert late == []


def _add_chain(scenarios: Scenarios) -> None:
    """`first` is foreign; `second` does not skip on failure, `third` depends on it, `fourth` skips."""
    scenarios.manifests.append(config_map("acme-first", whose="theirs"))
    needed: dict[str, dict[str, Any]] = {
        "first": {},
        "second": {"dependIds": ["first"], "skipOnDependencyFailure": False},
        "third": {"dependIds": ["second"]},
        "fourth": {"dependIds": ["first"]},
    }
    parts = [
        resource(id, config_map("", whose="ours"), nameTemplate="{{ .uid }}-" + id, **fields)
        for id, fields in needed.items()
    ]
    scenarios.add("chain", [("acme", "x", "1")], configMaps=parts)


def test_a_dependent_that_does_not_skip_is_applied_and_one_that_skips_after_the_conflict(
    scenarios: Scenarios,
) -> None:
    scenarios.until_exists("configmap", "acme-third")
    message = scenarios.world.until_condition("Conflicted", "True", kind="tenant", name="acme-chain")[
        "message"
    ]
    assert "acme-first exists with different owner" in message
    status = scenarios.world.status("tenant", "acme-chain")
    assert (status["readyResources"], status["failedResources"]) == (2, 1)
    assert status["skippedResourceIds"] == ["fourth"]
    assert scenarios.world.get("configmap", "acme-first")["data"] == {"whose": "theirs"}
    until(lambda: scenarios.world.events("DependencyFailedButProceeding"))
    until(lambda: scenarios.metric("tenant_resources_conflicted", tenant="acme-chain") == 1)
    kept = {"resource_kind": "ConfigMap", "conflict_policy": "Stuck"}
    assert scenarios.metric("tenant_conflicts_total", tenant="acme-chain", **kept) >= 1
    assert scenarios.metric("tenant_degraded_status", tenant="acme-chain", reason="ResourceConflicts") == 1

    scenarios.world.kubectl("delete", "configmap", "acme-first")
    status = scenarios.until_ready("acme-chain")
    assert (status["readyResources"], status["skippedResources"]) == (4, 0)
    assert scenarios.world.get("configmap", "acme-first")["data"] == {"whose": "ours"}
    until(lambda: scenarios.metric("tenant_resources_conflicted", tenant="acme-chain") == 0)


def _add_force(scenarios: Scenarios) -> None:
    """Two templates whose Tenants both take over the same object with Force."""
    part = resource("part", config_map(""), nameTemplate="{{ .uid }}-forced", conflictPolicy="Force")
    scenarios.add("force", [("acme", "x", "1")], configMaps=[part])
    scenarios.manifests.append(template("other-force", registryId="force", configMaps=[part]))


def test_two_tenants_that_force_the_same_object_settle(scenarios: Scenarios) -> None:
    def conflicted_tenant() -> str:
        message = {
            name: scenarios.world.condition("Conflicted", "tenant", name)["message"]
            for name in ("acme-force", "acme-other-force")
        }
        return next((name for name, message in message.items() if "again and again" in message), "")

    lost = until(conflicted_tenant)
    kept = "acme-force" if lost == "acme-other-force" else "acme-other-force"
    scenarios.until_ready(kept)
    found = scenarios.world.get("configmap", "acme-forced")
    assert found["metadata"]["labels"]["kubernetes-tenants.org/tenant"] == kept
    until(lambda: scenarios.world.events("ForceApplied"))


def _kinds(name: str, other: str) -> dict[str, tuple[str, Manifest]]:
    """By name: one object of each kind that has a readiness rule of its own, with its list in the template."""
    labels = {"app": name}
    selector = {"matchLabels": labels}
    pods = {"metadata": {"labels": labels}, "spec": POD}
    once = {"template": {"spec": {**POD, "restartPolicy": "Never"}}}
    backend = {"service": {"name": name, "port": {"number": 80}}}
    routes = [{"http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}]
    storage = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "acme-typed"}
    stateful = {"replicas": 2, "selector": selector, "serviceName": name, "template": pods}
    cron = {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": once}}

    def manifest(api_version: str, kind: str, spec: Manifest) -> Manifest:
        return {"apiVersion": api_version, "kind": kind, "spec": spec}

    balanced = service(name)
    balanced["spec"]["type"] = "LoadBalancer"
    return {
        "idle": ("deployments", deployment(name, replicas=0)),
        "stateful": ("statefulSets", manifest("apps/v1", "StatefulSet", stateful)),
        "daemon": ("daemonSets", manifest("apps/v1", "DaemonSet", {"selector": selector, "template": pods})),
        "inside": ("services", service(name)),
        "balanced": ("services", balanced),
        "ingress": ("ingresses", manifest("networking.k8s.io/v1", "Ingress", {"rules": routes})),
        "claim": ("persistentVolumeClaims", manifest("v1", "PersistentVolumeClaim", storage)),
        "job": ("jobs", manifest("batch/v1", "Job", once)),
        "cron": ("cronJobs", manifest("batch/v1", "CronJob", cron)),
        "budget": (
            "podDisruptionBudgets",
            manifest("policy/v1", "PodDisruptionBudget", {"maxUnavailable": 1, "selector": selector}),
        ),
        "policy": ("networkPolicies", manifest("networking.k8s.io/v1", "NetworkPolicy", {"podSelector": {}})),
        "scaler": (
            "horizontalPodAutoscalers",
            manifest(
                "autoscaling/v2", "HorizontalPodAutoscaler", {"scaleTargetRef": target, "maxReplicas": 2}
            ),
        ),
        "space": ("namespaces", namespace_manifest(other)),
        "database": (
            "manifests",
            manifest("multigres.com/v1alpha1", "MultigresCluster", {"cells": [{"name": "a", "zone": "z1"}]}),
        ),
    }


PATCHED = {"job": "replace", "claim": "replace", "inside": "merge"}
"""The API server sets immutable fields in the first two that a template does not have."""


def _add_kinds(scenarios: Scenarios) -> None:
    """Each with a dependent ConfigMap: `acme-after-job` exists once the Job is ready."""
    other = "{{ .uid }}-" + scenarios.world.namespace
    lists: dict[str, list[Manifest]] = {}
    for word, (name, body) in _kinds("{{ .uid }}", other).items():
        named = {} if word == "space" else {"nameTemplate": "{{ .uid }}-" + word}
        how = {"patchStrategy": PATCHED[word]} if word in PATCHED else {}
        lists.setdefault(name, []).append(resource(word, body, **named, **how))
    after = [
        resource(f"after-{word}", config_map(""), nameTemplate="{{ .uid }}-after-" + word, dependIds=[word])
        for word in _kinds("", "")
    ]
    there = resource("there", config_map(""), nameTemplate="{{ .uid }}-there", targetNamespace=other)
    there["dependIds"] = ["space"]
    scenarios.add("kinds", [("acme", "x", "1")], configMaps=[*after, there], **lists)


def test_every_kind_is_ready_by_its_own_rule_and_dependents_follow(scenarios: Scenarios) -> None:
    for kind in ("service", "ingress", "hpa"):
        scenarios.until_exists(
            kind, {"service": "acme-balanced", "hpa": "acme-scaler"}.get(kind, "acme-ingress")
        )
    address = {"ingress": [{"ip": "192.0.2.1"}]}
    able = {"type": "AbleToScale", "status": "True", "reason": "ReadyForNewScale", "message": ""}
    scenarios.set_status(
        "hpa", "acme-scaler", conditions=[{**able, "lastTransitionTime": "2026-01-01T00:00:00Z"}]
    )
    message = {
        "balanced": scenarios.set_status("service", "acme-balanced", loadBalancer=address),
        "ingress": scenarios.set_status("ingress", "acme-ingress", loadBalancer=address),
        "database": scenarios.observe_generation("multigrescluster", "acme-database"),
    }

    status = scenarios.until_ready("acme-kinds")
    assert status["readyResources"] == status["desiredResources"] == 2 * len(_kinds("", "")) + 1
    after = {word: version(scenarios.world.get("configmap", f"acme-after-{word}")) for word in _kinds("", "")}
    assert [word for word, since in message.items() if after[word] < since] == []


def test_a_custom_kind_is_ready_by_its_conditions(scenarios: Scenarios) -> None:
    scenarios.until_ready("acme-kinds")
    ready = {
        "type": "Ready",
        "reason": "Provisioned",
        "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    scenarios.set_status("multigrescluster", "acme-database", conditions=[{**ready, "status": "False"}])
    of_tenant = {"kind": "tenant", "name": "acme-kinds"}
    until(lambda: "database: Provisioned" in scenarios.world.condition("Ready", **of_tenant)["message"])
    scenarios.set_status("multigrescluster", "acme-database", conditions=[{**ready, "status": "True"}])
    scenarios.until_ready("acme-kinds")


def test_objects_in_a_namespace_from_the_row_are_tracked_by_labels(
    scenarios: Scenarios, kubectl: Kubectl
) -> None:
    other = f"acme-{scenarios.world.namespace}"
    there = World(kubectl, other)
    found = until(lambda: there.get("configmap", "acme-there"))
    labels = {
        "kubernetes-tenants.org/tenant": "acme-kinds",
        "kubernetes-tenants.org/tenant-namespace": scenarios.world.namespace,
    }
    assert labels.items() <= found["metadata"]["labels"].items()
    assert "ownerReferences" not in found["metadata"]
    (spaces,) = kubectl.json("get", "namespace", f"--field-selector=metadata.name={other}")["items"]
    assert labels.items() <= spaces["metadata"]["labels"].items()
    listed = until(lambda: scenarios.world.status("tenant", "acme-kinds").get("appliedResources"))
    assert f"ConfigMap/{other}/acme-there@there" in listed


SKEWED = ("a", "b", "c", "d", "e")


def _add_skew(scenarios: Scenarios) -> None:
    """A ConfigMap is ready when the test labels it so."""
    part = resource(
        "part",
        config_map(""),
        nameTemplate="{{ .uid }}-part",
        readyWhen='{{ eq (default "" (index .metadata.labels "go")) "yes" }}',
    )
    rows = [(uid, "x", "1") for uid in SKEWED]
    scenarios.add("skew", rows, configMaps=[part], rollout={"maxSkew": 2})


def _rollout(scenarios: Scenarios) -> dict[str, Any]:
    found: dict[str, Any] = scenarios.world.status("tenanttemplate", "skew").get("rollout", {})
    return found


def _numbers(scenarios: Scenarios) -> tuple[Any, ...]:
    found = _rollout(scenarios)
    fields = ("phase", "targetGeneration", "totalNodes", "updatedNodes", "updatingNodes", "readyUpdatedNodes")
    return tuple(found.get(field) for field in fields)


def test_no_more_than_max_skew_are_written_until_others_are_ready_and_the_status_counts_them(
    scenarios: Scenarios,
) -> None:
    until(lambda: _numbers(scenarios) == ("InProgress", 1, 5, 2, 2, 0), lambda: _rollout(scenarios))
    assert scenarios.tenants("skew") == {"a", "b"}
    until(lambda: scenarios.world.events("RolloutThrottled"))
    scenarios.world.kubectl("label", "configmap", "a-part", "go=yes")
    until(lambda: _numbers(scenarios) == ("InProgress", 1, 5, 3, 2, 1), lambda: _rollout(scenarios))
    assert scenarios.tenants("skew") == {"a", "b", "c"}
    for uid in ("b", "c", "d", "e"):
        scenarios.until_exists("configmap", f"{uid}-part")
        scenarios.world.kubectl("label", "configmap", f"{uid}-part", "go=yes")
    until(lambda: _numbers(scenarios) == ("Complete", 1, 5, 5, 0, 5), lambda: _rollout(scenarios))


WALKED = tuple("abcdefgh")


def _add_walk(scenarios: Scenarios) -> None:
    scenarios.add("walk", [(uid, "x", "1") for uid in WALKED])
    registry = scenarios.manifests[-2]
    registry["spec"]["deletionGuard"] = {"maxPercent": 50}


def test_slow_deletions_are_executed_and_reported_when_they_are_many(scenarios: Scenarios) -> None:
    until(lambda: scenarios.tenants("walk") == set(WALKED), scenarios.world.tenants)
    for gone in (WALKED[:4], WALKED[4:5]):
        names = ", ".join(f"'{uid}'" for uid in gone)
        scenarios.customers.run(f"UPDATE walk SET active = '0' WHERE id IN ({names})")
        until(lambda gone=gone: not scenarios.tenants("walk") & set(gone), scenarios.world.tenants)
    assert scenarios.tenants("walk") == set(WALKED[5:])
    (message,) = until(lambda: scenarios.world.events("ManyTenantsDeleted"))
    assert message.startswith("5 Tenants were deleted within the last hour")


SCENARIOS = (
    _add_kinds,
    _add_skew,
    _add_walk,
    _add_chain,
    _add_force,
    _add_diamond,
    _add_typed,
    _add_figures,
    _add_spellings,
)
