"""The acceptance list told by one operator in one namespace: from rows and templates to objects, statuses and metrics.

Each story has a table, a registry and a template of its own, all named alike. All of them begin together, so that one
comes up while another is looked at.
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
from tests.tenants.conftest import running_operator
from tests.tenants.support.customers import FILE, Customers, World, sqlite_registry, until
from tests.tenants.support.fleet import config_map, deployment, make_spaces, resource, service, space
from tests.tenants.support.manifests import Manifest, template

pytestmark = pytest.mark.timeout(1200)

ACTIVE = ("1", "true", "TRUE", "True", "yes", "YES", "Yes", 1)
INACTIVE = ("0", "false", "", "on", "Y", "t", " 1", "1 ", "yEs", "2", None, 0)
LONG = "x" * 80
POD = {"containers": [{"name": "app", "image": "app:1"}]}


@dataclass
class Stage:
    world: World
    customers: Customers
    metrics: str
    """Where they are served."""
    manifests: list[Manifest] = field(default_factory=list)
    """What is applied at the beginning, in one go."""

    def begin(self, story: str, rows: Sequence[tuple[Any, ...]], *columns: str, **spec: Any) -> None:
        """A table with these columns beside the usual three, its registry, and its template."""
        names = ", ".join(("id", "url", "active", *columns))
        self.customers.run(f"CREATE TABLE {story} ({names})")
        for row in rows:
            self.customers.run(f"INSERT INTO {story} VALUES ({', '.join('?' * len(row))})", *row)
        source = {"type": "sqlite", "syncInterval": "1s", "sqlite": {"file": FILE, "table": story}}
        guard = {"maxPercent": 100}
        registry = sqlite_registry(
            story,
            source=source,
            extraValueMappings={column: column for column in columns},
            deletionGuard=guard,
        )
        self.manifests += (registry, template(story, **{"registryId": story, "configMaps": [], **spec}))

    def tenants(self, story: str) -> set[str]:
        """The uids of those that stay."""
        found = self.world.tenants().values()
        return {
            item["spec"]["uid"]
            for item in found
            if item["spec"]["templateRef"] == story and "deletionTimestamp" not in item["metadata"]
        }

    def until_there(self, kind: str, name: str) -> Any:
        return until(lambda: self.world.get(kind, name), lambda: (name, self.world.tenants()))

    def until_ready(self, tenant: str) -> dict[str, Any]:
        self.world.until_condition("Ready", "True", kind="tenant", name=tenant)
        return self.world.status("tenant", tenant)

    def say(self, kind: str, name: str, **status: Any) -> int:
        """Plays the controller that reports on an object; the version of the object from then on."""
        patch = json.dumps({"status": status})
        self.world.kubectl("patch", kind, name, "--subresource=status", "--type=merge", "-p", patch)
        return version(self.world.get(kind, name))

    def figure(self, name: str, **labels: str) -> float:
        return sample(self.metrics, name, **labels, namespace=self.world.namespace)


def version(found: Manifest) -> int:
    return int(found["metadata"]["resourceVersion"])


@pytest.fixture(scope="module")
def stage(
    control_plane: ControlPlane, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    definitions.install(control_plane, kubectl, MULTIGRES_KINDS)
    directory: Path = tmp_path_factory.mktemp("operator")
    (namespace,) = make_spaces(kubectl, 1)
    (port,) = free_ports(1)
    settings = {"metrics_bind_address": f"127.0.0.1:{port}", "metrics_secure": "false"}
    found = Stage(World(kubectl, namespace), Customers(directory), f"127.0.0.1:{port}")
    with running_operator(control_plane, namespace, directory / "operator.log", **settings):
        for begin in STORIES:
            begin(found)
        found.world.apply(*found.manifests)
        yield found
        _leave(found, kubectl)


def _leave(stage: Stage, kubectl: Kubectl) -> None:
    """On a control plane that somebody keeps all Tenants leave while the operator is there to see them off."""
    if namespaces.kept_plane():
        unguarded = json.dumps({"spec": {"deletionGuard": {"maxPercent": 100}}})
        stage.world.kubectl("patch", "tenantregistry", "walk", "--type=merge", "-p", unguarded)
        stage.world.kubectl("delete", "tenantregistries", "--all", "--wait=false")
        until(lambda: not stage.world.tenants(), stage.world.tenants)
    namespaces.leave(kubectl.server, stage.world.namespace)


def _begin_spellings(stage: Stage) -> None:
    rows = [(f"yes{number}", "x", text) for number, text in enumerate(ACTIVE)]
    rows += [(f"no{number}", "x", text) for number, text in enumerate(INACTIVE)]
    stage.begin(
        "spellings", rows, configMaps=[resource("own", config_map(""), nameTemplate="{{ .uid }}-own")]
    )


def test_seven_spellings_and_numbers_that_are_true_are_active_and_nothing_else(stage: Stage) -> None:
    status = until(lambda: found if (found := stage.world.status(name="spellings")).get("ready") else None)
    assert status["activeRows"] == status["desired"] == len(ACTIVE)
    active = {f"yes{number}" for number in range(len(ACTIVE))}
    until(lambda: stage.tenants("spellings") == active, stage.world.tenants)


def _begin_figures(stage: Stage) -> None:
    part = resource("part", config_map(""), nameTemplate="{{ .uid }}-figure")
    stage.begin("figures", [("one", "x", "1"), ("two", "x", "1")], configMaps=[part])


def test_metrics_tell_what_is_and_end_with_their_tenant(stage: Stage) -> None:
    until(lambda: stage.figure("registry_ready", registry="figures") == 2)
    assert stage.figure("registry_desired", registry="figures") == 2
    assert stage.figure("registry_failed", registry="figures") == 0
    one = {"tenant": "one-figures"}
    assert stage.figure("tenant_resources_ready", **one) == 1
    assert stage.figure("tenant_resources_desired", **one) == 1
    assert stage.figure("tenant_condition_status", type="Ready", **one) == 1
    attempts = {"kind": "ConfigMap", "result": "success", "conflict_policy": "Stuck"}
    assert sample(stage.metrics, "apply_attempts_total", **attempts) >= 2
    assert sample(stage.metrics, "tenant_reconcile_duration_seconds_count", result="success") >= 2

    stage.customers.run("UPDATE figures SET active = 'no' WHERE id = 'one'")
    until(lambda: stage.figure("tenant_resources_desired", **one) == 0)
    until(lambda: stage.figure("registry_desired", registry="figures") == 1)


def _begin_typed(stage: Stage) -> None:
    app = deployment("", replicas=1)
    app["metadata"] = {"labels": {"kept": "{{ .count }}"}}
    app["spec"]["replicas"] = "{{ int .count }}"
    app["spec"]["selector"] = {"matchLabels": {"app": "{{ .uid }}"}}
    app["spec"]["template"]["metadata"] = {"labels": {"app": "{{ .uid }}"}}
    app["spec"]["template"]["spec"]["automountServiceAccountToken"] = "{{ bool .flag }}"
    # The one built-in kind whose content is anybody's: there a fraction stays one.
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
        "made": "{{ upper .word }} {{ b64enc .word }} {{ sha1sum .word }} {{ .nowhere | default \"basic\" }}",
        "long": "{{ trunc63 .long }}",
        "number": "{{ int .count }}",
    }  # fmt: skip
    stage.begin(
        "typed",
        [("acme", "https://acme.example.com:8443/path", "1", "2", "0.25", "yes", "many", LONG)],
        *("count", "share", "flag", "word", "long"),
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


def test_numbers_fractions_and_truth_reach_fields_and_texts_stay_texts(stage: Stage) -> None:
    status = stage.until_ready("acme-typed")
    assert (status["readyResources"], status["desiredResources"]) == (3, 3)
    app = stage.world.get("deployment", "acme-typed")
    assert app["spec"]["replicas"] == 2
    assert app["spec"]["template"]["spec"]["automountServiceAccountToken"] is True
    assert app["metadata"]["labels"]["kept"] == "2"
    free = stage.world.get("controllerrevision", "acme-free")
    assert free["revision"] == 2
    assert free["data"] == {"share": 0.25, "flag": True, "spoiled": 0, "absent": 5, "text": "2"}


def test_functions_and_where_a_row_comes_from_reach_data_labels_and_annotations(stage: Stage) -> None:
    found = stage.until_there("configmap", "acme-words")
    encoded, digest = base64.b64encode(b"many").decode(), hashlib.sha1(b"many").hexdigest()
    assert found["data"] == {
        "where": "typed typed typed acme.example.com",
        "made": f"MANY {encoded} {digest} basic",
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


def _begin_diamond(stage: Stage) -> None:
    """The last is written first, so that the order of the list is not the order of making."""
    parts = [
        resource(id, config_map(""), nameTemplate="{{ .uid }}-" + id, dependIds=needed)
        for id, needed in DIAMOND.items()
    ]
    stage.begin("diamond", [("acme", "x", "1")], configMaps=parts)


def test_a_chain_a_fan_in_and_a_diamond_are_made_in_their_order(stage: Stage) -> None:
    stage.until_ready("acme-diamond")
    # Nobody touches a ConfigMap after it is made, and versions only grow.
    made = {id: version(stage.world.get("configmap", f"acme-{id}")) for id in DIAMOND}
    late = [(id, each) for id, needed in DIAMOND.items() for each in needed if made[each] > made[id]]
    assert late == []


def _begin_chain(stage: Stage) -> None:
    """`first` is somebody else's; `second` does not mind, `third` follows it, `fourth` minds."""
    stage.manifests.append(config_map("acme-first", whose="theirs"))
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
    stage.begin("chain", [("acme", "x", "1")], configMaps=parts)


def test_who_does_not_skip_goes_on_with_its_own_and_who_does_comes_when_the_conflict_is_over(
    stage: Stage,
) -> None:
    stage.until_there("configmap", "acme-third")
    told = stage.world.until_condition("Conflicted", "True", kind="tenant", name="acme-chain")["message"]
    assert "acme-first exists with different owner" in told
    status = stage.world.status("tenant", "acme-chain")
    assert (status["readyResources"], status["failedResources"]) == (2, 1)
    assert status["skippedResourceIds"] == ["fourth"]
    assert stage.world.get("configmap", "acme-first")["data"] == {"whose": "theirs"}
    until(lambda: stage.world.events("DependencyFailedButProceeding"))
    until(lambda: stage.figure("tenant_resources_conflicted", tenant="acme-chain") == 1)
    kept = {"resource_kind": "ConfigMap", "conflict_policy": "Stuck"}
    assert stage.figure("tenant_conflicts_total", tenant="acme-chain", **kept) >= 1
    assert stage.figure("tenant_degraded_status", tenant="acme-chain", reason="ResourceConflicts") == 1

    stage.world.kubectl("delete", "configmap", "acme-first")
    status = stage.until_ready("acme-chain")
    assert (status["readyResources"], status["skippedResources"]) == (4, 0)
    assert stage.world.get("configmap", "acme-first")["data"] == {"whose": "ours"}
    until(lambda: stage.figure("tenant_resources_conflicted", tenant="acme-chain") == 0)


def _begin_force(stage: Stage) -> None:
    """Two templates whose Tenants both take the same object by force."""
    part = resource("part", config_map(""), nameTemplate="{{ .uid }}-forced", conflictPolicy="Force")
    stage.begin("force", [("acme", "x", "1")], configMaps=[part])
    stage.manifests.append(template("other-force", registryId="force", configMaps=[part]))


def test_two_who_take_one_object_by_force_come_to_rest(stage: Stage) -> None:
    def loser() -> str:
        told = {
            name: stage.world.condition("Conflicted", "tenant", name)["message"]
            for name in ("acme-force", "acme-other-force")
        }
        return next((name for name, message in told.items() if "again and again" in message), "")

    lost = until(loser)
    kept = "acme-force" if lost == "acme-other-force" else "acme-other-force"
    stage.until_ready(kept)
    found = stage.world.get("configmap", "acme-forced")
    assert found["metadata"]["labels"]["kubernetes-tenants.org/tenant"] == kept
    until(lambda: stage.world.events("ForceApplied"))


def _kinds(name: str, other: str) -> dict[str, tuple[str, Manifest]]:
    """By a word, one of each kind that has a rule of its own, with the list that it stands in."""
    labels = {"app": name}
    selector = {"matchLabels": labels}
    pods = {"metadata": {"labels": labels}, "spec": POD}
    once = {"template": {"spec": {**POD, "restartPolicy": "Never"}}}
    backend = {"service": {"name": name, "port": {"number": 80}}}
    storage = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "acme-typed"}
    stateful = {"replicas": 2, "selector": selector, "serviceName": name, "template": pods}
    cron = {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": once}}

    def made(api_version: str, kind: str, spec: Manifest) -> Manifest:
        return {"apiVersion": api_version, "kind": kind, "spec": spec}

    balanced = service(name)
    balanced["spec"]["type"] = "LoadBalancer"
    return {
        "idle": ("deployments", deployment(name, replicas=0)),
        "stateful": ("statefulSets", made("apps/v1", "StatefulSet", stateful)),
        "daemon": ("daemonSets", made("apps/v1", "DaemonSet", {"selector": selector, "template": pods})),
        "inside": ("services", service(name)),
        "balanced": ("services", balanced),
        "ingress": ("ingresses", made("networking.k8s.io/v1", "Ingress", {"defaultBackend": backend})),
        "claim": ("persistentVolumeClaims", made("v1", "PersistentVolumeClaim", storage)),
        "job": ("jobs", made("batch/v1", "Job", once)),
        "cron": ("cronJobs", made("batch/v1", "CronJob", cron)),
        "budget": (
            "podDisruptionBudgets",
            made("policy/v1", "PodDisruptionBudget", {"maxUnavailable": 1, "selector": selector}),
        ),
        "policy": ("networkPolicies", made("networking.k8s.io/v1", "NetworkPolicy", {"podSelector": {}})),
        "scaler": (
            "horizontalPodAutoscalers",
            made("autoscaling/v2", "HorizontalPodAutoscaler", {"scaleTargetRef": target, "maxReplicas": 2}),
        ),
        "space": ("namespaces", space(other)),
        "database": (
            "manifests",
            made("multigres.com/v1alpha1", "MultigresCluster", {"cells": [{"name": "a", "zone": "z1"}]}),
        ),
    }


PATCHED = {"job": "replace", "claim": "replace", "inside": "merge"}
"""Into the first two the server writes what no one may change, and a template does not know."""


def _begin_kinds(stage: Stage) -> None:
    """Each with a ConfigMap that waits for it: `acme-after-job` is there once the Job is ready."""
    other = "{{ .uid }}-" + stage.world.namespace
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
    stage.begin("kinds", [("acme", "x", "1")], configMaps=[*after, there], **lists)


def test_every_kind_is_ready_by_its_own_rule_and_what_waits_for_it_comes_then(stage: Stage) -> None:
    for kind in ("service", "ingress", "hpa"):
        stage.until_there(kind, {"service": "acme-balanced", "hpa": "acme-scaler"}.get(kind, "acme-ingress"))
    address = {"ingress": [{"ip": "192.0.2.1"}]}
    able = {"type": "AbleToScale", "status": "True", "reason": "ReadyForNewScale", "message": ""}
    stage.say("hpa", "acme-scaler", conditions=[{**able, "lastTransitionTime": "2026-01-01T00:00:00Z"}])
    told = {
        "balanced": stage.say("service", "acme-balanced", loadBalancer=address),
        "ingress": stage.say("ingress", "acme-ingress", loadBalancer=address),
    }

    status = stage.until_ready("acme-kinds")
    assert status["readyResources"] == status["desiredResources"] == 2 * len(_kinds("", "")) + 1
    after = {word: version(stage.world.get("configmap", f"acme-after-{word}")) for word in _kinds("", "")}
    assert [word for word, since in told.items() if after[word] < since] == []


def test_a_custom_kind_is_ready_as_its_conditions_say(stage: Stage) -> None:
    stage.until_ready("acme-kinds")
    ready = {"type": "Ready", "reason": "Told", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    stage.say("multigrescluster", "acme-database", conditions=[{**ready, "status": "False"}])
    of_tenant = {"kind": "tenant", "name": "acme-kinds"}
    until(lambda: "database: Told" in stage.world.condition("Ready", **of_tenant)["message"])
    stage.say("multigrescluster", "acme-database", conditions=[{**ready, "status": "True"}])
    stage.until_ready("acme-kinds")


def test_a_namespace_named_by_the_row_holds_what_is_tracked_by_labels(stage: Stage, kubectl: Kubectl) -> None:
    other = f"acme-{stage.world.namespace}"
    there = World(kubectl, other)
    found = until(lambda: there.get("configmap", "acme-there"))
    labels = {
        "kubernetes-tenants.org/tenant": "acme-kinds",
        "kubernetes-tenants.org/tenant-namespace": stage.world.namespace,
    }
    assert labels.items() <= found["metadata"]["labels"].items()
    assert "ownerReferences" not in found["metadata"]
    (spaces,) = kubectl.json("get", "namespace", f"--field-selector=metadata.name={other}")["items"]
    assert labels.items() <= spaces["metadata"]["labels"].items()
    listed = until(lambda: stage.world.status("tenant", "acme-kinds").get("appliedResources"))
    assert f"ConfigMap/{other}/acme-there@there" in listed


SKEWED = ("a", "b", "c", "d", "e")


def _begin_skew(stage: Stage) -> None:
    """A ConfigMap is ready when somebody labels it so."""
    part = resource(
        "part",
        config_map(""),
        nameTemplate="{{ .uid }}-part",
        readyWhen='{{ eq (default "" (index .metadata.labels "go")) "yes" }}',
    )
    rows = [(uid, "x", "1") for uid in SKEWED]
    stage.begin("skew", rows, configMaps=[part], rollout={"maxSkew": 2})


def _rollout(stage: Stage) -> dict[str, Any]:
    found: dict[str, Any] = stage.world.status("tenanttemplate", "skew").get("rollout", {})
    return found


def _numbers(stage: Stage) -> tuple[Any, ...]:
    found = _rollout(stage)
    fields = ("phase", "targetGeneration", "totalNodes", "updatedNodes", "updatingNodes", "readyUpdatedNodes")
    return tuple(found.get(field) for field in fields)


def test_no_more_than_max_skew_are_made_until_others_are_ready_and_the_status_counts_them(
    stage: Stage,
) -> None:
    until(lambda: _numbers(stage) == ("InProgress", 1, 5, 2, 2, 0), lambda: _rollout(stage))
    assert stage.tenants("skew") == {"a", "b"}
    until(lambda: stage.world.events("RolloutThrottled"))
    stage.world.kubectl("label", "configmap", "a-part", "go=yes")
    until(lambda: _numbers(stage) == ("InProgress", 1, 5, 3, 2, 1), lambda: _rollout(stage))
    assert stage.tenants("skew") == {"a", "b", "c"}
    for uid in ("b", "c", "d", "e"):
        stage.until_there("configmap", f"{uid}-part")
        stage.world.kubectl("label", "configmap", f"{uid}-part", "go=yes")
    until(lambda: _numbers(stage) == ("Complete", 1, 5, 5, 0, 5), lambda: _rollout(stage))


WALKED = tuple("abcdefgh")


def _begin_walk(stage: Stage) -> None:
    stage.begin("walk", [(uid, "x", "1") for uid in WALKED])
    registry = stage.manifests[-2]
    registry["spec"]["deletionGuard"] = {"maxPercent": 50}


def test_rows_that_go_a_few_at_a_time_are_believed_and_told_when_they_are_many(stage: Stage) -> None:
    until(lambda: stage.tenants("walk") == set(WALKED), stage.world.tenants)
    for gone in (WALKED[:4], WALKED[4:5]):
        names = ", ".join(f"'{uid}'" for uid in gone)
        stage.customers.run(f"UPDATE walk SET active = '0' WHERE id IN ({names})")
        until(lambda gone=gone: not stage.tenants("walk") & set(gone), stage.world.tenants)
    assert stage.tenants("walk") == set(WALKED[5:])
    (told,) = until(lambda: stage.world.events("ManyTenantsDeleted"))
    assert told.startswith("5 Tenants went within the last hour")


STORIES = (
    _begin_kinds,
    _begin_skew,
    _begin_walk,
    _begin_chain,
    _begin_force,
    _begin_diamond,
    _begin_typed,
    _begin_figures,
    _begin_spellings,
)
