"""Properties of all objects of a cluster."""

from typing import Any

import pytest

from steward.kube.objects.meta import ObjectMeta
from steward.multigres.api.compute import Pool
from steward.multigres.api.shard import ShardSpec
from steward.multigres.api.topo import TopoReference
from steward.multigres.objects.shard_inputs import shard_inputs
from steward.multigres.objects.tree import shard_objects
from steward.multigres.views import ShardView
from tests.multigres.support.tree import build_tree, containers, of_kind, pods, pool_name

WORKLOADS = ("Deployment", "StatefulSet")


def named(tree: list[Any], kind: str, name: str) -> Any:
    return next(m for m in of_kind(tree, kind) if m["metadata"]["name"] == name)


def test_every_object_has_an_owner_and_the_managed_by_label() -> None:
    for manifest in build_tree():
        assert manifest["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "multigres-operator"
        if manifest["kind"] != "PersistentVolumeClaim" and not manifest["metadata"]["name"].endswith(
            "-password"
        ):
            [owner] = manifest["metadata"]["ownerReferences"]
            assert owner["controller"] is True


def test_claims_and_password_have_no_owner() -> None:
    tree = build_tree()
    for manifest in [
        *of_kind(tree, "PersistentVolumeClaim"),
        named(tree, "Secret", "mini-postgres-password"),
    ]:
        assert "ownerReferences" not in manifest["metadata"]
    deleted = build_tree(pvcDeletionPolicy={"whenDeleted": "Delete"})
    assert all("ownerReferences" in claim["metadata"] for claim in of_kind(deleted, "PersistentVolumeClaim"))


def test_no_two_objects_share_a_kind_and_a_name() -> None:
    names = [(m["kind"], m["metadata"]["name"]) for m in build_tree()]
    assert len(names) == len(set(names))


def test_pull_policy_and_pull_secrets_reach_every_pod() -> None:
    tree = build_tree(images={"imagePullPolicy": "Always", "imagePullSecrets": [{"name": "registry"}]})
    for pod in pods(tree):
        assert pod["spec"]["imagePullSecrets"] == [{"name": "registry"}]
        assert {c["imagePullPolicy"] for c in containers(pod)} == {"Always"}


def test_every_container_has_a_restricted_security_context() -> None:
    for pod in pods(build_tree()):
        assert pod["spec"]["securityContext"]["runAsNonRoot"] is True
        assert pod["spec"]["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in containers(pod):
            assert container["securityContext"]["allowPrivilegeEscalation"] is False
            assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
            assert container["securityContext"]["readOnlyRootFilesystem"] is True


def test_selectors_match_their_own_pods_and_no_others() -> None:
    tree = build_tree()
    for workload in [m for kind in WORKLOADS for m in of_kind(tree, kind)]:
        selected = workload["spec"]["selector"]["matchLabels"]
        matching = [
            other["metadata"]["name"]
            for kind in WORKLOADS
            for other in of_kind(tree, kind)
            if selected.items() <= other["spec"]["template"]["metadata"]["labels"].items()
        ]
        assert matching == [workload["metadata"]["name"]]


def test_a_users_label_never_replaces_a_label_of_the_operator() -> None:
    user_labels = {"app.kubernetes.io/component": "mine", "team": "a"}
    tree = build_tree(multiadmin={"spec": {"podLabels": user_labels}})
    labels = named(tree, "Deployment", "mini-multiadmin")["spec"]["template"]["metadata"]["labels"]
    assert labels["app.kubernetes.io/component"] == "multiadmin"
    assert labels["team"] == "a"


def test_a_users_affinity_replaces_the_default_spread() -> None:
    affinity = {"nodeAffinity": {}}
    tree = build_tree(multiadmin={"spec": {"affinity": affinity}})
    assert named(tree, "Deployment", "mini-multiadmin")["spec"]["template"]["spec"]["affinity"] == affinity


@pytest.mark.parametrize(
    ("cell", "selected"),
    [
        ({"zone": "z9"}, {"topology.kubernetes.io/zone": "z9"}),
        ({"region": "r9"}, {"topology.kubernetes.io/region": "r9"}),
        ({"name": "anywhere"}, None),
    ],
)
def test_pods_of_a_cell_select_nodes_of_its_zone_or_region(
    cell: dict[str, str], selected: dict[str, str] | None
) -> None:
    tree = build_tree(cells=[cell])
    for pod in pods(tree):
        if "multigres.com/cell" in pod["metadata"]["labels"]:
            assert pod["spec"].get("nodeSelector") == selected


def test_pools_are_updated_on_delete() -> None:
    pool = named(build_tree(), "StatefulSet", pool_name("z1"))
    assert pool["spec"]["updateStrategy"] == {"type": "OnDelete"}
    assert pool["spec"]["podManagementPolicy"] == "Parallel"


def test_volumes_are_retained_unless_the_policy_is_delete() -> None:
    retained = named(build_tree(), "StatefulSet", pool_name("z1"))
    deleted = named(build_tree(pvcDeletionPolicy={"whenDeleted": "Delete"}), "StatefulSet", pool_name("z1"))
    field = "persistentVolumeClaimRetentionPolicy"
    assert retained["spec"][field] == {"whenDeleted": "Retain", "whenScaled": "Retain"}
    assert deleted["spec"][field] == {"whenDeleted": "Delete", "whenScaled": "Retain"}


def test_poolers_register_names_that_others_can_resolve_and_that_survive_a_restart() -> None:
    pool = named(build_tree("prod"), "StatefulSet", pool_name("z1"))
    args = pool["spec"]["template"]["spec"]["containers"][0]["args"]
    service = pool["spec"]["serviceName"]
    assert "--service-id=$(POD_NAME)" in args
    assert f"--hostname=$(POD_NAME).{service}.prod.svc.cluster.local" in args


def test_postgres_runs_as_a_native_sidecar() -> None:
    pod = named(build_tree(), "StatefulSet", pool_name("z1"))["spec"]["template"]["spec"]
    assert [(c["name"], c["restartPolicy"]) for c in pod["initContainers"]] == [("postgres", "Always")]


def test_replicas_may_connect_to_each_other_with_a_password() -> None:
    rules = next(m for m in of_kind(build_tree(), "ConfigMap") if "pg_hba_template.conf" in m["data"])
    lines = [line.split() for line in rules["data"]["pg_hba_template.conf"].splitlines()]
    assert ["host", "replication", "all", "0.0.0.0/0", "scram-sha-256"] in lines
    assert not [line for line in lines if line[0] == "host" and line[-1] == "trust"]


def test_all_endpoints_and_secrets_of_an_external_topology_server_reach_every_component() -> None:
    external = {
        "endpoints": ["https://a:2379", "https://b:2379"],
        "caSecret": "topo-ca",
        "clientCertSecret": "topo-client",
    }
    tree = build_tree(globalTopoServer={"external": external})
    assert of_kind(tree, "TopoServer") == []
    clients = {"multigateway", "multiorch", "multipooler", "multiadmin"}
    checked = set()
    for pod in pods(tree):
        volumes = {v.get("secret", {}).get("secretName") for v in pod["spec"]["volumes"]}
        for container in containers(pod):
            if container["name"] in clients:
                checked.add(container["name"])
                assert "--topo-global-server-addresses=https://a:2379,https://b:2379" in container["args"]
                assert any(arg.startswith("--topo-etcd-tls-ca=") for arg in container["args"])
                assert {"topo-ca", "topo-client"} <= volumes
    assert checked == clients


def test_s3_credentials_are_referenced_by_name() -> None:
    s3 = {"bucket": "b", "region": "r", "credentialsSecret": "aws"}
    tree = build_tree(backup={"type": "s3", "s3": s3})
    assert of_kind(tree, "PersistentVolumeClaim") == []
    env = named(tree, "StatefulSet", pool_name("z1"))["spec"]["template"]["spec"]["containers"][0]["env"]
    key = next(e for e in env if e["name"] == "AWS_SECRET_ACCESS_KEY")
    assert key["valueFrom"] == {"secretKeyRef": {"name": "aws", "key": "AWS_SECRET_ACCESS_KEY"}}


def test_a_shard_has_one_backup_volume_for_all_its_cells() -> None:
    [claim] = of_kind(build_tree(), "PersistentVolumeClaim")
    assert "multigres.com/cell" not in claim["metadata"]["labels"]


def test_backup_certificates_have_the_file_names_that_the_data_plane_expects() -> None:
    pod = named(build_tree(), "StatefulSet", pool_name("z1"))["spec"]["template"]["spec"]
    volume = next(v for v in pod["volumes"] if v["name"] == "pgbackrest-certs")
    paths = {i["key"]: i["path"] for i in volume["projected"]["sources"][0]["secret"]["items"]}
    assert paths == {"ca.crt": "ca.crt", "tls.crt": "pgbackrest.crt", "tls.key": "pgbackrest.key"}


@pytest.mark.parametrize(
    ("endpoint", "prefix"), [("", "OTEL_EXPORTER_OTLP"), ("disabled", "OTEL_")], ids=["none", "disabled"]
)
def test_telemetry_is_not_pushed_without_an_endpoint(endpoint: str, prefix: str) -> None:
    for pod in pods(build_tree(observability={"otlpEndpoint": endpoint})):
        for container in containers(pod):
            assert not [e for e in container["env"] if e["name"].startswith(prefix)]


SILENT = ("backup-repository", "etcd", "multiadmin-web", "postgres-exporter")
"""Programs that send no telemetry to a collector."""


def test_telemetry_settings_reach_every_data_plane_container() -> None:
    tree = build_tree(observability={"otlpEndpoint": "http://collector:4318", "tracesSampler": "always_on"})
    clients = {c["name"]: c for pod in pods(tree) for c in containers(pod) if c["name"] not in SILENT}
    assert set(clients) == {"multiadmin", "multigateway", "multiorch", "multipooler", "postgres"}
    for container in clients.values():
        env = {e["name"]: e.get("value") for e in container["env"]}
        assert env["OTEL_EXPORTER_OTLP_ENDPOINT"] == "http://collector:4318"
        assert env["OTEL_TRACES_SAMPLER"] == "always_on"


def test_zero_replicas_is_built_as_zero() -> None:
    tree = build_tree(multiadmin={"spec": {"replicas": 0}})
    assert named(tree, "Deployment", "mini-multiadmin")["spec"]["replicas"] == 0


@pytest.mark.parametrize(
    ("external", "expected"),
    [
        (None, {"type": "ClusterIP"}),
        ({"enabled": False}, {"type": "ClusterIP"}),
        ({"enabled": True}, {"type": "LoadBalancer"}),
        (
            {"enabled": True, "externalIPs": ["192.0.2.1"]},
            {"type": "ClusterIP", "externalIPs": ["192.0.2.1"]},
        ),
    ],
)
def test_gateways_are_exposed_only_on_request(external: Any, expected: dict[str, Any]) -> None:
    spec = {} if external is None else {"externalGateway": external}
    service = named(build_tree(**spec), "Service", "mini-multigateway")
    assert expected.items() <= service["spec"].items()


def test_members_of_etcd_are_listed_by_dns_name() -> None:
    etcd = named(build_tree("prod"), "StatefulSet", "mini-global-topo")
    env = {e["name"]: e.get("value") for e in etcd["spec"]["template"]["spec"]["containers"][0]["env"]}
    domain = "mini-global-topo-headless.prod.svc.cluster.local:2380"
    members = [f"mini-global-topo-{i}=http://mini-global-topo-{i}.{domain}" for i in range(3)]
    assert env["ETCD_INITIAL_CLUSTER"] == ",".join(members)


def test_a_restart_that_the_shard_asks_for_changes_the_pods_of_its_pool_alone() -> None:
    pools = {"main": Pool(cells=["z1"]), "spare": Pool(cells=["z1"])}
    labels = {"multigres.com/cluster": "mini"}
    topo = TopoReference(address="etcd:2379", root_path="/x", implementation="etcd")
    spec = ShardSpec(
        shard_name="0-inf",
        database_name="postgres",
        table_group_name="default",
        pools=pools,
        global_topo_server=topo,
    )

    def annotations(**notes: str) -> dict[str, Any]:
        asked = {f"restart.multigres.com/{pool}": value for pool, value in notes.items()}
        meta = ObjectMeta(name="mini-0", namespace="shop", uid="u", labels=labels, annotations=asked)
        sets = of_kind(shard_objects(shard_inputs(ShardView(meta, spec))), "StatefulSet")
        return {
            each["metadata"]["labels"]["multigres.com/pool"]: each["spec"]["template"]["metadata"][
                "annotations"
            ]
            for each in sets
        }

    before, after = annotations(), annotations(main="2026-01-01T00:00:00Z", gone="2026-01-01T00:00:00Z")
    assert after["main"] == {**before["main"], "multigres.com/restarted-at": "2026-01-01T00:00:00Z"}
    assert after["spare"] == before["spare"]
