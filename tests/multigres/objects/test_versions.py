"""Each version of the pods is built as it was released."""

from hashlib import sha256
from typing import Any

import pytest

from steward.kube.objects.meta import ObjectMeta
from steward.multigres.api.scalars import UNSET
from steward.multigres.objects import gateway, orchestrator, pool
from steward.multigres.objects.gateway import selecting_unmarked
from steward.multigres.objects.metadata import ACCEPTS_CLIENTS_LABEL, COMPONENT_LABEL
from steward.multigres.objects.versions import (
    FIRST,
    GATEWAYS,
    NEWEST,
    ORCHESTRATORS,
    POSTGRES_SERVERS,
    VERSIONS,
    is_of_go_operator,
    version_of,
    versions_after,
    written_version,
)
from tests.multigres.support.tree import build_tree, containers, of_kind, pods
from tests.multigres.support.version_clusters import FULL, pod_templates

CHILDREN = ("TopoServer", "Cell", "TableGroup", "Shard")
COMPONENTS = {
    POSTGRES_SERVERS: pool.COMPONENT,
    GATEWAYS: gateway.COMPONENT,
    ORCHESTRATORS: orchestrator.COMPONENT,
}

# The pod templates of version 1, recorded from the last release without versions. They never change again: a change of
# a pod template belongs to a new version.
FIRST_MINIMAL = {
    "multiadmin": "e6265d3858eab9b8",
    "multiadmin-web": "06a205c4d49d894d",
    "multigateway": "9960ca14e4de2686",
    "multiorch": "ee9ed7c007b39414",
    "shard-pool": "bbc4af6e54f01414",
    "toposerver": "4e8064137813c322",
}
FIRST_FULL = {
    "multiadmin": "23c114bd3281b013",
    "multiadmin-web": "5f041b3d8f9b5624",
    "multigateway": "2780a2ebd98efc28",
    "multiorch": "ce2b569067da1c9f",
    "shard-pool": "712fd640fb7b3765",
    "toposerver": "8da6a76cc56f7d9d",
}


def digests(templates: dict[str, list[bytes]]) -> dict[str, str]:
    return {name: sha256(b"".join(found)).hexdigest()[:16] for name, found in templates.items()}


@pytest.mark.parametrize(("spec", "recorded"), [({}, FIRST_MINIMAL), (FULL, FIRST_FULL)])
def test_pods_of_the_first_version_never_change(spec: dict[str, Any], recorded: dict[str, str]) -> None:
    assert digests(pod_templates(build_tree(version=FIRST, **spec))) == recorded


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_restarts_the_components_that_it_names(version: Any) -> None:
    before = pod_templates(build_tree(version=version.number - 1))
    after = pod_templates(build_tree(version=version.number))
    changed = {name for name, templates in after.items() if name in before and templates != before[name]}
    assert changed == {COMPONENTS[name] for name in version.restarts}


def test_every_child_names_the_version_of_its_pods_except_for_the_first() -> None:
    for kind in CHILDREN:
        newest = of_kind(build_tree(**FULL), kind)
        assert newest
        assert {child["spec"]["objectsVersion"] for child in newest} == {NEWEST}
        assert not any(
            "objectsVersion" in child["spec"] for child in of_kind(build_tree(version=FIRST), kind)
        )


def test_a_spec_without_a_version_has_the_first_and_one_of_a_later_release_the_newest() -> None:
    assert version_of(written_version(FIRST)) == FIRST
    assert version_of(written_version(NEWEST)) == NEWEST
    assert version_of(NEWEST + 1) == NEWEST
    assert [each.number for each in versions_after(FIRST)] == list(range(FIRST + 1, NEWEST + 1))


def postgres_container(version: int, **spec: Any) -> Any:
    tree = build_tree(version=version, **spec)
    return next(c for pod in pods(tree) for c in containers(pod) if c["name"] == "postgres")


@pytest.mark.parametrize(
    ("name", "version", "created"),
    [("orders", NEWEST, ["orders"]), ("postgres", NEWEST, []), ("orders", FIRST, [])],
)
def test_the_first_start_creates_a_database_that_initdb_does_not_bring_along(
    name: str, version: int, created: list[str]
) -> None:
    group = {"name": "default", "default": True, "shards": [{"name": "0-inf"}]}
    container = postgres_container(
        version, databases=[{"name": name, "default": True, "tablegroups": [group]}]
    )
    assert [each["value"] for each in container["env"] if each["name"] == "POSTGRES_DB"] == created


def test_readiness_of_a_server_asks_postgres_while_start_and_liveness_ask_pgctld() -> None:
    newest, first = postgres_container(NEWEST), postgres_container(FIRST)
    command = newest["readinessProbe"]["exec"]["command"]
    assert command[0] == "pg_isready"
    assert "--host=/var/lib/pooler/pg_sockets" in command
    assert newest["readinessProbe"]["timeoutSeconds"] > 3, "longer than pg_isready waits for an answer"
    assert newest["startupProbe"] == first["startupProbe"]
    for probe in ("startupProbe", "livenessProbe"):
        assert newest[probe]["httpGet"]["path"] == "/live"


def test_a_busy_node_has_a_minute_to_answer_for_a_server_before_it_is_killed() -> None:
    newest, first = postgres_container(NEWEST)["livenessProbe"], postgres_container(FIRST)["livenessProbe"]
    assert newest == {**first, "timeoutSeconds": 5, "failureThreshold": 6}


def test_pods_that_are_not_ready_are_published_and_can_be_evicted() -> None:
    tree = build_tree()
    headless = [each for each in of_kind(tree, "Service") if each["spec"].get("clusterIP") == "None"]
    assert headless
    assert all(each["spec"]["publishNotReadyAddresses"] for each in headless)
    budgets = [
        each
        for each in of_kind(tree, "PodDisruptionBudget")
        if each["metadata"]["labels"]["app.kubernetes.io/component"] == pool.COMPONENT
    ]
    assert [each["spec"]["unhealthyPodEvictionPolicy"] for each in budgets] == ["AlwaysAllow"]


def gateway_flags(version: int, **gateway_spec: Any) -> list[str]:
    cells = [{"zone": "z1", "spec": {"multiGateway": gateway_spec}}]
    [pod] = [
        pod
        for pod in pods(build_tree(version=version, cells=cells))
        if pod["metadata"]["labels"]["app.kubernetes.io/component"] == gateway.COMPONENT
    ]
    return [arg for arg in pod["spec"]["containers"][0]["args"] if arg.startswith("--buffer")]


def test_gateways_hold_requests_as_long_as_a_failover_takes_and_again_at_the_next_one() -> None:
    assert gateway_flags(NEWEST) == [
        "--buffer-enabled",
        "--buffer-window=30s",
        "--buffer-max-failover-duration=30s",
        "--buffer-min-time-between-failovers=1s",
        "--buffer-size=1000",
    ]


@pytest.mark.parametrize(
    ("version", "buffering", "expected"),
    [
        (FIRST, None, []),
        (NEWEST, {"enabled": False}, []),
        (FIRST, {"window": "10s"}, ["--buffer-window=10s", "--buffer-max-failover-duration=30s"]),
        (NEWEST, {"window": "2m"}, ["--buffer-window=2m", "--buffer-max-failover-duration=2m"]),
        (
            NEWEST,
            {"maxFailoverDuration": "50s", "size": 7},
            ["--buffer-max-failover-duration=50s", "--buffer-size=7"],
        ),
    ],
)
def test_buffering_follows_the_spec_in_every_version(
    version: int, buffering: dict[str, Any] | None, expected: list[str]
) -> None:
    flags = gateway_flags(version, **({} if buffering is None else {"buffering": buffering}))
    assert set(expected) <= set(flags)
    assert bool(flags) == bool(expected)


@pytest.mark.parametrize(
    ("version", "written", "variable"),
    [
        (FIRST, "15s", "15s"),
        (NEWEST, "15s", "15000"),
        (NEWEST, "500ms", "500"),
        (NEWEST, "5000", "5000"),
        (NEWEST, "soon", "soon"),
    ],
)
def test_the_export_interval_reaches_every_program_in_milliseconds(
    version: int, written: str, variable: str
) -> None:
    settings = {"otlpEndpoint": "http://collector:4318", "metricExportInterval": written}
    found = {
        each["value"]
        for pod in pods(build_tree(version=version, observability=settings))
        for container in containers(pod)
        for each in container.get("env", [])
        if each["name"] == "OTEL_METRIC_EXPORT_INTERVAL"
    }
    assert found == {variable}


@pytest.mark.parametrize(("version", "expected"), [(FIRST, False), (NEWEST, True)])
def test_pgctld_finds_the_sampling_rules_that_its_variable_names(version: int, expected: bool) -> None:
    settings = {"otlpEndpoint": "http://collector:4318", "samplingConfigRef": {"name": "rules"}}
    container = postgres_container(version, observability=settings)
    env = {each["name"]: each["value"] for each in container["env"]}
    mounted = [each["mountPath"] for each in container["volumeMounts"]]
    directory = env["OTEL_TRACES_SAMPLER_CONFIG"].rpartition("/")[0]
    assert (directory in mounted) is expected


@pytest.mark.parametrize(("version", "expected"), [(FIRST, False), (NEWEST, True)])
def test_settings_that_are_given_later_are_included_from_initdb_on(version: int, expected: bool) -> None:
    names = {each["name"] for each in postgres_container(version)["env"]}
    assert ("POSTGRES_INITDB_EXTRA_CONF" in names) is expected


def test_no_query_of_the_exporter_has_the_name_of_a_collector_of_its_own() -> None:
    """`pg_replication_lag` is one: the exporter would answer every scrape with an error."""
    queries = [
        each["data"]["queries.yaml"] for each in build_tree() if "queries.yaml" in (each.get("data") or {})
    ]
    assert queries
    assert all("pg_replication" not in each and "pg_archiving" in each for each in queries)


@pytest.mark.parametrize(
    ("version", "observability", "served"),
    [
        (NEWEST, None, True),
        (FIRST, None, False),
        (FIRST, {"metricsExporter": "prometheus"}, True),
        (NEWEST, {"otlpEndpoint": "http://collector:4318"}, False),
        (NEWEST, {"otlpEndpoint": "http://collector:4318", "metricsExporter": "prometheus"}, True),
        (NEWEST, {"metricsExporter": "none"}, False),
    ],
    ids=["newest", "first", "first-on-request", "pushed", "traces-pushed", "off"],
)
def test_gateways_and_poolers_serve_metrics_unless_they_push_them(
    version: int, observability: Any, served: bool
) -> None:
    spec = {"observability": observability} if observability else {}
    found = {
        container["name"]: container
        for pod in pods(build_tree(version=version, **spec))
        for container in containers(pod)
    }
    for name, port in (("multigateway", 9464), ("multipooler", 9465)):
        env = {each["name"]: each.get("value") for each in found[name]["env"]}
        ports = [each["containerPort"] for each in found[name]["ports"]]
        assert (env.get("OTEL_METRICS_EXPORTER") == "prometheus", port in ports) == (served, served)
        assert env.get("OTEL_EXPORTER_PROMETHEUS_PORT") == (str(port) if served else None)
        assert len(env) == len(found[name]["env"])
        assert not served or "POD_IP" in env


def pool_pod(version: int, **settings: Any) -> Any:
    shard = {"name": "0-inf", "overrides": settings}
    group = {"name": "default", "default": True, "shards": [shard]}
    tree = build_tree(
        version=version, databases=[{"name": "postgres", "default": True, "tablegroups": [group]}]
    )
    return next(pod for pod in pods(tree) if pod["metadata"]["labels"][COMPONENT_LABEL] == pool.COMPONENT)


def memory_of(version: int, **settings: Any) -> tuple[str | None, bool]:
    """The settings by memory of a pod, and whether its Postgres can read them."""
    pod = pool_pod(version, **settings)
    names = [mount["name"] for mount in containers(pod)[0]["volumeMounts"]]
    volumes = [each["name"] for each in pod["spec"]["volumes"]]
    is_mounted = "postgres-memory" in names
    assert is_mounted is ("postgres-memory" in volumes)
    return pod["metadata"]["annotations"].get("multigres.com/postgres-memory"), is_mounted


def test_servers_have_settings_by_the_memory_of_their_pool() -> None:
    text, is_mounted = memory_of(NEWEST)
    assert is_mounted
    assert text == (
        "effective_cache_size = '384MB'\nmaintenance_work_mem = '25MB'\nshared_buffers = '128MB'\n"
        "wal_buffers = '-1'\nwork_mem = '1191kB'\n"
    )
    larger = {"pools": {"default": {"postgres": {"limits": {"memory": "8Gi"}}}}}
    assert "shared_buffers = '2048MB'" in str(memory_of(NEWEST, **larger)[0])


def test_pods_of_the_first_version_and_those_without_memory_keep_the_settings_of_pgctld() -> None:
    unknown = {"pools": {"default": {"postgres": {"requests": {"cpu": "1"}}}}}
    assert memory_of(FIRST) == memory_of(NEWEST, **unknown) == (None, False)


def test_settings_of_the_user_are_included_after_those_by_memory() -> None:
    container = postgres_container(NEWEST)
    [files] = [each["value"] for each in container["env"] if each["name"] == "POSTGRES_INITDB_EXTRA_CONF"]
    paths = ["/etc/postgres-memory/memory.conf", "/etc/pgctld/postgres-config/postgresql.conf"]
    assert files.split() == paths
    mounted = {mount["mountPath"] for mount in container["volumeMounts"]}
    assert {path.rpartition("/")[0] for path in paths} <= mounted


def test_parallel_queries_have_more_shared_memory_than_a_container_runtime_gives() -> None:
    volume = {"name": "shared-memory", "emptyDir": {"medium": "Memory"}}
    assert volume in pool_pod(NEWEST)["spec"]["volumes"]
    assert volume not in pool_pod(FIRST)["spec"]["volumes"]


@pytest.mark.parametrize(
    ("settings", "is_restart"),
    [({"work_mem": "8MB"}, False), ({"shared_buffers": "1GB"}, True)],
    ids=["reloaded", "restart"],
)
def test_the_first_settings_of_a_shard_change_its_pods_only_if_postgres_must_restart(
    settings: dict[str, str], is_restart: bool
) -> None:
    changed = pool_pod(NEWEST, postgres={"settings": settings})
    assert (changed != pool_pod(NEWEST)) is is_restart


@pytest.mark.parametrize(("version", "is_mounted"), [(NEWEST, True), (FIRST, False)])
def test_servers_mount_the_settings_of_the_spec(version: int, is_mounted: bool) -> None:
    shard = {"name": "0-inf", "spec": {"postgres": {"settings": {"work_mem": "8MB"}}}}
    group = {"name": "default", "default": True, "shards": [shard]}
    tree = build_tree(
        version=version, databases=[{"name": "postgres", "default": True, "tablegroups": [group]}]
    )
    texts = [manifest["data"].get("postgresql.conf") for manifest in tree if manifest["kind"] == "ConfigMap"]
    assert ("work_mem = '8MB'\n" in texts) is is_mounted
    mounts = postgres_container(
        version, databases=[{"name": "postgres", "default": True, "tablegroups": [group]}]
    )["volumeMounts"]
    assert ("postgres-config" in [mount["name"] for mount in mounts]) is is_mounted


@pytest.mark.parametrize(("version", "is_marked"), [(NEWEST, True), (FIRST, False)])
def test_the_service_of_a_cluster_selects_gateways_that_accept_clients(version: int, is_marked: bool) -> None:
    tree = build_tree(version=version)
    [address] = [
        each for each in tree if each["kind"] == "Service" and each["metadata"]["name"] == "mini-multigateway"
    ]
    [labels, *_] = [
        each["spec"]["template"]["metadata"]["labels"]
        for each in tree
        if each["kind"] == "Deployment" and each["metadata"]["labels"][COMPONENT_LABEL] == "multigateway"
    ]
    assert (ACCEPTS_CLIENTS_LABEL in address["spec"]["selector"]) is is_marked
    assert address["spec"]["selector"].items() <= labels.items()
    # While pods of an older version exist, they are selected as well.
    unmarked = selecting_unmarked(address, "mini")["spec"]["selector"]
    assert unmarked == {
        name: value for name, value in address["spec"]["selector"].items() if name != ACCEPTS_CLIENTS_LABEL
    }


@pytest.mark.parametrize(
    ("finalizers", "written", "expected"),
    [
        (("shard.data-handler.multigres.com/finalizer",), UNSET, True),
        (("multigres.com/cleanup", "shard.data-handler.multigres.com/finalizer"), UNSET, True),
        (("shard.data-handler.multigres.com/finalizer",), NEWEST, False),
        (("multigres.com/cleanup",), UNSET, False),
        ((), UNSET, False),
    ],
    ids=["untouched", "with both finalizers", "with a version", "of a release without versions", "of a user"],
)
def test_a_child_of_the_go_operator_waits_for_a_version(
    finalizers: tuple[str, ...], written: Any, expected: bool
) -> None:
    assert is_of_go_operator(ObjectMeta(name="s", finalizers=finalizers), written) is expected
