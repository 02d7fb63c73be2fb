from typing import Any

import pytest

from steward.tenants.objects.pod_security import SAFE_CAPABILITIES, service_accounts, unsafe_field

CONTAINER: dict[str, Any] = {"name": "app", "image": "app:1"}


def pod(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [CONTAINER], **spec}}


def container(**fields: Any) -> dict[str, Any]:
    return pod(containers=[CONTAINER, {**CONTAINER, **fields}])


def context(**fields: Any) -> dict[str, Any]:
    return container(securityContext=fields)


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        (pod(hostNetwork=True), "spec.hostNetwork is true"),
        (pod(hostPID=True), "spec.hostPID is true"),
        (pod(hostIPC=True), "spec.hostIPC is true"),
        (pod(volumes=[{"name": "a"}, {"hostPath": {"path": "/"}}]), "spec.volumes[1] is a hostPath"),
        (container(ports=[{"hostPort": 80}]), "spec.containers[1].ports[0].hostPort is 80"),
        (context(privileged=True), "spec.containers[1].securityContext.privileged is true"),
        (context(procMount="Unmasked"), "spec.containers[1].securityContext.procMount is Unmasked"),
        (
            context(capabilities={"add": ["CHOWN", "SYS_ADMIN"]}),
            "spec.containers[1].securityContext.capabilities.add has SYS_ADMIN",
        ),
        (
            pod(securityContext={"sysctls": [{"name": "kernel.msgmax"}]}),
            "spec.securityContext.sysctls has kernel.msgmax",
        ),
        (
            pod(securityContext={"seccompProfile": {"type": "Unconfined"}}),
            "spec.securityContext.seccompProfile.type is Unconfined",
        ),
        (
            context(seccompProfile={"type": "Unconfined"}),
            "spec.containers[1].securityContext.seccompProfile.type is Unconfined",
        ),
        (
            context(appArmorProfile={"type": "Unconfined"}),
            "spec.containers[1].securityContext.appArmorProfile.type is Unconfined",
        ),
        (
            context(seLinuxOptions={"type": "spc_t"}),
            "spec.containers[1].securityContext.seLinuxOptions.type is spc_t",
        ),
        (
            context(seLinuxOptions={"user": "root"}),
            "spec.containers[1].securityContext.seLinuxOptions.user is root",
        ),
        (
            pod(securityContext={"windowsOptions": {"hostProcess": True}}),
            "spec.securityContext.windowsOptions.hostProcess is true",
        ),
        (
            container(livenessProbe={"httpGet": {"host": "10.0.0.1"}}),
            "spec.containers[1].livenessProbe.httpGet.host is 10.0.0.1",
        ),
        (
            container(lifecycle={"preStop": {"tcpSocket": {"host": "10.0.0.1"}}}),
            "spec.containers[1].lifecycle.preStop.tcpSocket.host is 10.0.0.1",
        ),
        (
            pod(initContainers=[{**CONTAINER, "securityContext": {"privileged": True}}]),
            "spec.initContainers[0].securityContext.privileged is true",
        ),
        (
            pod(ephemeralContainers=[{**CONTAINER, "securityContext": {"privileged": True}}]),
            "spec.ephemeralContainers[0].securityContext.privileged is true",
        ),
    ],
)
def test_host_access_and_privilege_are_found(manifest: dict[str, Any], message: str) -> None:
    assert unsafe_field(manifest) == message


@pytest.mark.parametrize(
    "manifest",
    [
        pod(hostNetwork=False, volumes=[{"name": "a", "emptyDir": {}}, {"secret": {"secretName": "own"}}]),
        context(privileged=False, capabilities={"add": sorted(SAFE_CAPABILITIES), "drop": ["ALL"]}),
        context(
            seccompProfile={"type": "RuntimeDefault"}, seLinuxOptions={"type": "container_t", "level": "s0"}
        ),
        container(ports=[{"containerPort": 80}], readinessProbe={"httpGet": {"path": "/", "port": 80}}),
        pod(securityContext={"sysctls": [{"name": "net.ipv4.tcp_syncookies"}], "runAsUser": 0}),
        {"apiVersion": "v1", "kind": "ConfigMap", "data": {"hostNetwork": "true", "containers": []}},
        {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": ["text"], "securityContext": None}},
    ],
)
def test_what_baseline_allows_is_allowed(manifest: dict[str, Any]) -> None:
    assert unsafe_field(manifest) == ""


def test_pods_are_found_wherever_an_object_has_containers() -> None:
    bad = {"containers": [CONTAINER], "hostNetwork": True}
    job = {"spec": {"template": {"spec": bad}}}
    cron = {"apiVersion": "batch/v1", "kind": "CronJob", "spec": {"jobTemplate": job}}
    assert unsafe_field(cron) == "spec.jobTemplate.spec.template.spec.hostNetwork is true"
    parts = {"parts": [{"pod": {"containers": [CONTAINER]}}, {"pod": bad}]}
    custom = {"apiVersion": "example.org/v1", "kind": "Machine", "spec": parts}
    assert unsafe_field(custom) == "spec.parts[1].pod.hostNetwork is true"


def test_an_unconfined_apparmor_annotation_is_found() -> None:
    name = "container.apparmor.security.beta.kubernetes.io/app"
    template = {"metadata": {"annotations": {name: "unconfined"}}, "spec": {"containers": [CONTAINER]}}
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"template": template}}
    assert unsafe_field(deployment) == f"spec.template.metadata.annotations[{name}] is unconfined"


def test_accounts_are_found_in_pods_and_in_custom_kinds() -> None:
    backup = {"backup": {"s3": {"serviceAccountName": "backup"}}, "serviceAccount": {"name": "runner"}}
    cluster = {"apiVersion": "multigres.com/v1alpha1", "kind": "MultigresCluster", "spec": backup}
    assert {each.value for each in service_accounts(cluster)} == {"backup", "runner"}
    assert [each.path for each in service_accounts(pod(serviceAccount="a"))] == ["spec.serviceAccount"]
    assert list(service_accounts(pod(serviceAccountName="default"))) == []


def test_an_object_of_any_depth_is_walked() -> None:
    deep: dict[str, Any] = pod(hostNetwork=True)["spec"]
    for _ in range(5000):
        deep = {"a": deep}
    found = unsafe_field({"apiVersion": "example.org/v1", "kind": "Deep", "spec": deep})
    assert found.endswith("hostNetwork is true")


@pytest.mark.parametrize("value", [[], {}, 7, True, None, "text", [[]], [{}], {"name": []}, [None]])
def test_fields_of_a_wrong_type_are_left_to_the_api_server(value: Any) -> None:
    """Hand-made Tenants may hold anything."""
    names = ("volumes", "securityContext", "initContainers", "ephemeralContainers", "serviceAccount")
    for name in names:
        assert isinstance(unsafe_field(pod(**{name: value})), str)
        assert isinstance(list(service_accounts(pod(**{name: value}))), list)
    for name in ("ports", "securityContext", "lifecycle", "livenessProbe"):
        assert isinstance(unsafe_field(container(**{name: value})), str)
    for name in ("capabilities", "seLinuxOptions", "seccompProfile", "windowsOptions", "procMount"):
        assert isinstance(unsafe_field(context(**{name: value})), str)
    assert isinstance(unsafe_field(context(capabilities={"add": value})), str)
    assert isinstance(unsafe_field(context(seLinuxOptions={"type": value})), str)
    assert isinstance(unsafe_field(pod(securityContext={"sysctls": value})), str)
    assert isinstance(
        unsafe_field({"apiVersion": "v1", "kind": "Pod", "metadata": {"annotations": value}}), str
    )
