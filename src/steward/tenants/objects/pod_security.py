"""Host access, privilege and service accounts of the pods that an object makes. Pure.

The limits are those of the Pod Security Standard `baseline`. They are checked here because the operator creates the
object: the namespace of a Tenant may enforce no standard, and a namespace that a Tenant created enforces what its
template says.

Every map that has containers is read as a pod spec, wherever it is: in a Deployment, in the job template of a CronJob,
in a custom resource. A list of kinds was rejected: any custom kind may have a pod template.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from steward.kube.objects import kinds
from steward.kube.objects.kinds import Manifest, kind_of

SAFE_CAPABILITIES: Final = frozenset(
    {
        "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP",
        "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
    }
)  # fmt: skip
SAFE_SYSCTLS: Final = frozenset(
    {
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.ip_local_reserved_ports",
        "net.ipv4.ip_unprivileged_port_start",
        "net.ipv4.ping_group_range",
        "net.ipv4.tcp_fin_timeout",
        "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
        "net.ipv4.tcp_keepalive_time",
        "net.ipv4.tcp_rmem",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.tcp_wmem",
    }
)
SAFE_SELINUX_TYPES: Final = frozenset(
    {"", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"}
)
KINDS_WITHOUT_PODS: Final = frozenset(
    {
        kinds.CONFIG_MAP,
        kinds.HORIZONTAL_POD_AUTOSCALER,
        kinds.INGRESS,
        kinds.NAMESPACE,
        kinds.NETWORK_POLICY,
        kinds.PERSISTENT_VOLUME_CLAIM,
        kinds.POD_DISRUPTION_BUDGET,
        kinds.SECRET,
        kinds.SERVICE,
        kinds.SERVICE_ACCOUNT,
    }
)
"""Not walked: this is done for every object at every reconcile."""
CONTAINERS: Final = ("containers", "initContainers", "ephemeralContainers")
_APPARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
_HANDLERS: Final = ("httpGet", "tcpSocket")
_ACCOUNT_FIELDS: Final = ("serviceAccountName", "serviceAccount")


class Field(NamedTuple):
    """A field of an object, with its path."""

    path: str
    value: Any


def unsafe_field(manifest: Manifest) -> str:
    """The first field that gives pods host access or privilege, and its value; empty if none does."""
    return next(_unsafe_fields(manifest), "")


def service_accounts(manifest: Manifest) -> Iterator[Field]:
    """Every account that the object runs pods as. An unset account is `default`."""
    for at in _maps(manifest):
        for name in _ACCOUNT_FIELDS:
            account = at.value.get(name)
            # Some custom kinds have a map there, with the name of the account in it.
            found = account.get("name") if isinstance(account, Mapping) else account
            if isinstance(found, str) and found not in ("", "default"):
                yield Field(_join(at.path, name), found)


def _unsafe_fields(manifest: Manifest) -> Iterator[str]:
    for at in _maps(manifest):
        yield from _unsafe_annotations(at)
        if any(isinstance(at.value.get(name), list) for name in CONTAINERS):
            yield from _unsafe_pod_fields(at)


def _maps(manifest: Manifest) -> Iterator[Field]:
    """All maps of the object, level by level: recursion could exceed the stack."""
    if kind_of(manifest) in KINDS_WITHOUT_PODS:
        return
    level = [Field("", manifest)]
    while level:
        yield from (each for each in level if isinstance(each.value, dict))
        level = [child for each in level for child in _children(each)]


def _children(at: Field) -> list[Field]:
    """Its maps and lists. Most values are neither, and every object is walked at every reconcile."""
    if isinstance(at.value, dict):
        return [
            Field(_join(at.path, name), value)
            for name, value in at.value.items()
            if isinstance(value, dict | list)
        ]
    return [
        Field(f"{at.path}[{index}]", value)
        for index, value in enumerate(at.value)
        if isinstance(value, dict | list)
    ]


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _unsafe_annotations(at: Field) -> Iterator[str]:
    annotations = at.value.get("annotations")
    for name, value in annotations.items() if isinstance(annotations, dict) else ():
        is_safe = str(value) in ("", "runtime/default") or str(value).startswith("localhost/")
        if name.startswith(_APPARMOR) and not is_safe:
            yield f"{at.path}.annotations[{name}] is {value}"


def _unsafe_pod_fields(pod: Field) -> Iterator[str]:
    for name in ("hostNetwork", "hostPID", "hostIPC"):
        if pod.value.get(name):
            yield f"{_join(pod.path, name)} is true"
    for index, volume in enumerate(_items(pod.value, "volumes")):
        if volume.get("hostPath") is not None:
            yield f"{_join(pod.path, 'volumes')}[{index}] is a hostPath"
    context = _map(pod.value, "securityContext")
    yield from _unsafe_context(Field(_join(pod.path, "securityContext"), context))
    for sysctl in _items(context, "sysctls"):
        if str(sysctl.get("name")) not in SAFE_SYSCTLS:
            yield f"{_join(pod.path, 'securityContext.sysctls')} has {sysctl.get('name')}"
    for name in CONTAINERS:
        for index, container in enumerate(_items(pod.value, name)):
            yield from _unsafe_container_fields(Field(f"{_join(pod.path, name)}[{index}]", container))


def _unsafe_container_fields(container: Field) -> Iterator[str]:
    path, value = container
    context = _map(value, "securityContext")
    yield from _unsafe_context(Field(f"{path}.securityContext", context))
    if context.get("privileged"):
        yield f"{path}.securityContext.privileged is true"
    if context.get("procMount") not in (None, "", "Default"):
        yield f"{path}.securityContext.procMount is {context['procMount']}"
    added = _map(context, "capabilities").get("add")
    for capability in added if isinstance(added, list) else ():
        if str(capability) not in SAFE_CAPABILITIES:
            yield f"{path}.securityContext.capabilities.add has {capability}"
    for index, port in enumerate(_items(value, "ports")):
        if port.get("hostPort"):
            yield f"{path}.ports[{index}].hostPort is {port['hostPort']}"
    yield from _unsafe_handlers(container)


def _unsafe_handlers(container: Field) -> Iterator[str]:
    """The kubelet calls the host of a probe or hook from the network of the node."""
    lifecycle = _map(container.value, "lifecycle")
    hooks = {f"lifecycle.{name}": _map(lifecycle, name) for name in ("postStart", "preStop")}
    probes = {name: _map(container.value, name) for name in _PROBES}
    for where, handler in (probes | hooks).items():
        for name in _HANDLERS:
            if host := _map(handler, name).get("host"):
                yield f"{container.path}.{where}.{name}.host is {host}"


def _unsafe_context(context: Field) -> Iterator[str]:
    """What a pod and a container have in common."""
    path, value = context
    if _map(value, "windowsOptions").get("hostProcess"):
        yield f"{path}.windowsOptions.hostProcess is true"
    for name in ("seccompProfile", "appArmorProfile"):
        if _map(value, name).get("type") not in (None, "", "RuntimeDefault", "Localhost"):
            yield f"{path}.{name}.type is {value[name]['type']}"
    options = _map(value, "seLinuxOptions")
    if str(options.get("type") or "") not in SAFE_SELINUX_TYPES:
        yield f"{path}.seLinuxOptions.type is {options['type']}"
    for name in ("user", "role"):
        if options.get(name):
            yield f"{path}.seLinuxOptions.{name} is {options[name]}"


def _map(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def _items(value: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    found = value.get(name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
