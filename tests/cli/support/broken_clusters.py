"""Broken clusters and registries, and the sentence that `why` prints for each."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from steward.kube.objects.kinds import Manifest
from tests.tenants.support.manifests import registry, resource, template

CRASHING = {"podAnnotations": {"steward.local/pod": "crash-loop"}}
UNPULLED = {"podAnnotations": {"steward.local/pod": "image-pull-failure"}}


class BrokenObject(NamedTuple):
    """An object, the manifests that break it, and the expected sentence. `{n}` is the namespace."""

    target: str
    manifests: tuple[Manifest, ...]
    sentence: str


def cluster(name: str, pool: Manifest | None = None, **spec: Any) -> Manifest:
    """A cluster with few pods."""
    pools = {"main": {"type": "readWrite", "replicasPerCell": 1, **(pool or {})}}
    group = {"name": "default", "default": True, "shards": [{"name": "0-inf", "spec": {"pools": pools}}]}
    database = {"name": "postgres", "default": True, "tablegroups": [group]}
    few = {
        "globalTopoServer": {"etcd": {"replicas": 1}},
        "multiadminWeb": {"spec": {"replicas": 0}},
        "cells": [{"zone": "z1"}],
        "databases": [database],
    }
    return {
        "apiVersion": "multigres.com/v1alpha1",
        "kind": "MultigresCluster",
        "metadata": {"name": name},
        "spec": {**few, **spec},
    }


def sqlite_registry(name: str, **spec: Any) -> Manifest:
    """A registry with an SQLite file of the same name."""
    source = {"type": "sqlite", "syncInterval": "1s", "sqlite": {"file": f"{name}.db", "table": "customers"}}
    return registry(name, **{"source": source, "extraValueMappings": {"plan": "plan"}, **spec})


def config_map(name: str, value: str) -> Manifest:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"value": value}}
    return resource(nameTemplate=name, spec=body)


def deployment(image: str, **annotations: str) -> Manifest:
    labels = {"app": "{{ .uid }}"}
    pod = {
        "metadata": {"labels": labels, "annotations": annotations},
        "spec": {"containers": [{"name": "web", "image": image}]},
    }
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": pod}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "spec": spec}


def tenants(name: str, **lists: Any) -> Manifest:
    """A template for the registry of that name."""
    return template(f"{name}-app", **{"registryId": name, "configMaps": [], **lists})


def make_tables(directory: Path) -> None:
    rows = {
        "emptied": ("one", "two"),
        "doubled": ("same", "same"),
        "unrendered": ("acme",),
        "taken": ("globex",),
        "failing": ("initech", "vandelay"),
        "shrinking": ("s-one", "s-two", "s-three", "s-four"),
        "patient": ("umbrella",),
    }
    for name, uids in rows.items():
        with closing(sqlite3.connect(directory / f"{name}.db")) as connection, connection:
            connection.execute("CREATE TABLE customers (id TEXT, url TEXT, active TEXT, plan TEXT)")
            values = [(uid, f"https://{uid}.example.com", "1", "basic") for uid in uids]
            connection.executemany("INSERT INTO customers VALUES (?, ?, ?, ?)", values)


def change_table(directory: Path, name: str, statement: str) -> None:
    with closing(sqlite3.connect(directory / f"{name}.db")) as connection, connection:
        connection.execute(statement)


FOREIGN_CONFIG_MAP: Manifest = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "globex-config"},
    "data": {"value": "foreign"},
}
PASSWORD = {"name": "no-such-secret", "key": "password"}
MYSQL = {"host": "db", "username": "u", "passwordRef": PASSWORD, "database": "saas", "table": "customers"}

GATEWAY = {"zone": "z1", "spec": {"multiGateway": {"replicas": 1, **UNPULLED}}}
CRASHING_APP = resource(
    nameTemplate="{{ .uid }}-web", spec=deployment("web:1", **{"steward.local/pod": "crash-loop"})
)

BROKEN = (
    BrokenObject(
        "mgc/crashed",
        (cluster("crashed", multiadmin={"spec": CRASHING}),),
        "MultigresCluster {n}/crashed has failed because of Pod crashed-multiadmin-… for N: "
        "container multiadmin is in CrashLoopBackOff (exit code 1). To do: read its log: "
        "kubectl logs -n {n} crashed-multiadmin-… --previous.",
    ),
    BrokenObject(
        "mgc/unpulled",
        (cluster("unpulled", cells=[GATEWAY]),),
        "MultigresCluster {n}/unpulled has failed because of Pod unpulled-z1-multigateway-27cda072-… for N: "
        "container multigateway is in ImagePullBackOff (back-off pulling image). "
        "To do: correct the image of container multigateway in spec.images of MultigresCluster {n}/unpulled, or add "
        "the pull secret it needs.",
    ),
    BrokenObject(
        "mgc/homeless",
        (cluster("homeless", cells=[{"zone": "nowhere"}]),),
        "MultigresCluster {n}/homeless is not ready yet because of Pod homeless-nowhere-multigateway-ff13b80e-… for N: "
        "cannot be scheduled: 0/N nodes are available: N node(s) didn't match Pod's node affinity/selector. To do: add "
        "nodes that fit, or change the zone, the requests or the affinity.",
    ),
    BrokenObject(
        "mgc/unbound",
        (cluster("unbound", pool={"storage": {"size": "1Gi", "class": "no-such-class"}}),),
        "MultigresCluster {n}/unbound has failed for N: references: spec.databases[postgres].tablegroups[default]"
        ".shards[0-inf].pools[main].storage: StorageClass no-such-class does not exist; create it or name another.",
    ),
    BrokenObject(
        "mgc/secretless",
        (cluster("secretless", postgresPasswordSecretRef=PASSWORD),),
        "MultigresCluster {n}/secretless has failed for N: references: spec.postgresPasswordSecretRef.name: Secret "
        "no-such-secret does not exist; create it.",
    ),
    BrokenObject(
        "mgc/templateless",
        (cluster("templateless", templateDefaults={"coreTemplate": "gone"}),),
        "MultigresCluster {n}/templateless has failed for N: spec.templateDefaults.coreTemplate: CoreTemplate 'gone' "
        "does not exist in namespace '{n}'. To do: create it, or name another.",
    ),
    BrokenObject(
        "tenantregistry/fileless",
        (sqlite_registry("fileless"),),
        "TenantRegistry {n}/fileless is not ready yet for N: sqlite.file 'fileless.db' does not exist: create it below "
        "the directory of --sqlite-root.",
    ),
    BrokenObject(
        "tenantregistry/passwordless",
        (registry("passwordless", source={"type": "mysql", "mysql": MYSQL}),),
        "TenantRegistry {n}/passwordless is not ready yet for N: Secret no-such-secret does not exist: create it, or "
        "correct the reference.",
    ),
    BrokenObject(
        "tenantregistry/emptied",
        (sqlite_registry("emptied"), tenants("emptied", configMaps=[config_map("{{ .uid }}-emptied", "x")])),
        "TenantRegistry {n}/emptied has failed for N: 2 Tenants are not deleted: the table has no rows "
        "(one-emptied-app, two-emptied-app). Restore the rows, or set deletionGuard.allowEmpty if the table is "
        "meant to be empty.",
    ),
    BrokenObject(
        "tenantregistry/doubled",
        (sqlite_registry("doubled"),),
        "TenantRegistry {n}/doubled has failed for N: 1 row is rejected: row 'same': 2 rows have this uid: leave one "
        "of them. To do: correct the table; `steward rows doubled -n {n}` lists all of them.",
    ),
    BrokenObject(
        "tenantregistry/unrendered",
        (
            sqlite_registry("unrendered"),
            tenants("unrendered", configMaps=[config_map("{{ .uid }}-x", "{{ .nothing }}")]),
        ),
        "TenantRegistry {n}/unrendered is not ready yet because of Tenant acme-unrendered-app for N: "
        "TenantTemplate unrendered-app, resource 'config', "
        'spec.data.value: template: spec.data.value:1:3: executing "spec.data.value" at <.nothing>: map has no entry '
        'for key "nothing"; add it to extraValueMappings of the registry, or write {{ default ... }} where it may be '
        "missing.",
    ),
    BrokenObject(
        "tenantregistry/taken",
        (
            FOREIGN_CONFIG_MAP,
            sqlite_registry("taken"),
            tenants("taken", configMaps=[config_map("{{ .uid }}-config", "ours")]),
        ),
        "TenantRegistry {n}/taken is not ready yet because of Tenant globex-taken-app for N: 0 of 1 resources are "
        "ready; config: Resource globex-config exists with different owner: ConfigMap {n}/globex-config belongs to "
        "another owner. Check the namespace, review nameTemplate, or set conflictPolicy: Force.",
    ),
    BrokenObject(
        "tenantregistry/failing",
        (sqlite_registry("failing"), tenants("failing", deployments=[CRASHING_APP])),
        "TenantRegistry {n}/failing is not ready yet because of Pod initech-web-… for N: container "
        "web is in CrashLoopBackOff (exit code 1). To do: read its log: kubectl logs -n "
        "{n} initech-web-… --previous.",
    ),
    BrokenObject(
        "tenant/vandelay-failing-app",
        (),
        "Tenant {n}/vandelay-failing-app is not ready yet because of Pod vandelay-web-… for N: "
        "container web is in CrashLoopBackOff (exit code 1). To do: read its log: "
        "kubectl logs -n {n} vandelay-web-… --previous.",
    ),
    BrokenObject(
        "tenanttemplate/lonely",
        (template("lonely", registryId="nobody"),),
        "TenantTemplate {n}/lonely has failed for N: spec.registryId: there is no TenantRegistry 'nobody' in this "
        "namespace: create it, or correct the name.",
    ),
)

PATIENT_TEMPLATE = tenants("patient", configMaps=[config_map("{{ .uid }}-patient", "x")])
OTHERS = (
    sqlite_registry("shrinking"),
    tenants("shrinking", configMaps=[config_map("{{ .uid }}-shrinking", "x")]),
    sqlite_registry(
        "patient", source={**sqlite_registry("patient")["spec"]["source"], "syncInterval": "24h"}
    ),
    PATIENT_TEMPLATE,
)
"""Healthy registries: the tests shrink the table of one; the other is read once a day."""
