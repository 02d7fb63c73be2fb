"""The values of an installation. The values file of the Helm chart is generated from here."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

VERSION = "0.1.0"
NAMESPACE = "steward-system"


_DNS_LABEL = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
SYSTEM_PREFIX = "kube-"


def _description(text: str) -> Meta:
    return Meta(description=text)


NamespaceName = Annotated[
    str,
    Meta(
        pattern=_DNS_LABEL,
        max_length=63,
        # Helm's regular expressions have no lookahead.
        extra_json_schema={"not": {"pattern": f"^{SYSTEM_PREFIX}"}},
    ),
]
AccountName = Annotated[str, Meta(pattern=r"^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$", max_length=253)]
KindName = Annotated[str, Meta(pattern="^[A-Z][A-Za-z0-9]*$")]


def check_namespace(name: str) -> None:
    """Steward neither runs nor acts in the namespaces of Kubernetes itself."""
    if name.startswith(SYSTEM_PREFIX):
        raise ValueError(f"{name} belongs to Kubernetes: name a namespace that does not begin with kube-")


class Image(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    repository: Annotated[
        str,
        _description(
            "Image repository, such as registry.example.com/steward. The chart has no default: name yours."
        ),
    ] = "steward"
    tag: Annotated[str, _description("Image tag.")] = VERSION
    pull_policy: Annotated[
        Literal["Always", "IfNotPresent", "Never"], _description("Always, IfNotPresent or Never.")
    ] = "IfNotPresent"
    digest: Annotated[
        str,
        Meta(
            pattern="^(sha256:[0-9a-f]{64})?$",
            description="Digest of the image, sha256:...; with one, nodes pull it and ignore the tag.",
        ),
    ] = ""


def _resources() -> dict[str, Any]:
    return {"requests": {"cpu": "50m", "memory": "96Mi"}, "limits": {"memory": "512Mi"}}


class OperatorValues(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """One Deployment."""

    enabled: Annotated[bool, _description("Whether to install it.")] = True
    replicas: Annotated[
        int,
        Meta(
            ge=0,
            description="One replica leads and reconciles; all serve webhooks. Two survive the loss of a node.",
        ),
    ] = 2
    args: Annotated[list[str], _description("Additional flags of `steward run`: see docs/run.md.")] = field(
        default_factory=list
    )
    env: Annotated[
        list[dict[str, Any]],
        _description(
            "Additional environment variables of the container: OTEL_EXPORTER_OTLP_ENDPOINT turns tracing on."
        ),
    ] = field(default_factory=list)
    resources: Annotated[dict[str, Any], _description("Requests and limits of the container.")] = field(
        default_factory=_resources
    )
    node_selector: Annotated[
        dict[str, str], _description("Labels of the nodes that its pods may run on.")
    ] = field(default_factory=dict)
    tolerations: Annotated[list[dict[str, Any]], _description("Taints of nodes that its pods tolerate.")] = (
        field(default_factory=list)
    )

    affinity: Annotated[dict[str, Any], _description("Affinity of its pods.")] = field(default_factory=dict)
    pod_labels: Annotated[
        dict[str, str], _description("Additional labels of its pods; labels of Steward cannot be replaced.")
    ] = field(default_factory=dict)
    pod_annotations: Annotated[dict[str, str], _description("Additional annotations of its pods.")] = field(
        default_factory=dict
    )
    service_account_annotations: Annotated[
        dict[str, str],
        _description("Annotations of its service account, such as the role of a cloud provider."),
    ] = field(default_factory=dict)
    extra_volumes: Annotated[
        list[dict[str, Any]],
        _description("Additional volumes of its pods, such as a ConfigMap with a CA bundle."),
    ] = field(default_factory=list)
    extra_volume_mounts: Annotated[list[dict[str, Any]], _description("Where the container mounts them.")] = (
        field(default_factory=list)
    )
    webhook_certificate_secret: Annotated[
        str,
        _description(
            "A Secret with ca.crt, tls.crt and tls.key for the webhooks, as cert-manager writes it. Default: the "
            "operator makes its own certificate."
        ),
    ] = ""
    namespaces: Annotated[
        list[NamespaceName],
        _description(
            "The namespaces that it works in, and has rights in; they must exist. Default: all namespaces. "
            "The tenants operator keeps templates in their own namespace then."
        ),
    ] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in self.namespaces:
            check_namespace(name)


class ImpersonatedAccounts(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Service accounts of one namespace."""

    namespace: NamespaceName
    service_accounts: Annotated[list[AccountName], Meta(min_length=1)]

    def __post_init__(self) -> None:
        check_namespace(self.namespace)


class TenantsValues(OperatorValues, frozen=True, rename="camel", forbid_unknown_fields=True):
    partitions: Annotated[
        int,
        Meta(
            ge=1,
            le=64,
            description="Parts of the Tenants, each with a Deployment and a lease of its own, for tens of thousands.",
        ),
    ] = 1
    impersonate: Annotated[
        list[ImpersonatedAccounts],
        _description(
            "The service accounts that templates may name as serviceAccountName, each as "
            "{namespace: ..., serviceAccounts: [...]}. The operator may act as no other."
        ),
    ] = field(default_factory=list)
    template_scope: Annotated[
        Literal["own", "cluster"],
        _description(
            "own: templates reach their own namespace and those that their Tenants create. cluster: every namespace "
            "and every kind that the operator may write."
        ),
    ] = "own"
    allow_kinds: Annotated[
        list[KindName],
        _description(
            "Kinds that templates may contain although they grant rights, such as RoleBinding. The operator needs "
            "the rights to write them as well."
        ),
    ] = field(default_factory=list)


def _page_resources() -> dict[str, Any]:
    return {"requests": {"cpu": "20m", "memory": "96Mi"}, "limits": {"memory": "512Mi"}}


class PageValues(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The page in a browser."""

    enabled: Annotated[bool, _description("Whether to install it: see docs/page.md.")] = False
    actions: Annotated[
        bool,
        _description("Whether readers may also act, as far as their own rights go. Default: they only look."),
    ] = False
    public_url: Annotated[
        str,
        Meta(
            pattern="^(https?://[^/]+)?$",
            description="The address under which readers reach it behind a proxy, such as https://steward.example.com.",
        ),
    ] = ""
    certificate_secret: Annotated[
        str,
        _description(
            "A Secret with tls.crt and tls.key, as cert-manager writes it. Default: a self-signed certificate."
        ),
    ] = ""
    resources: Annotated[dict[str, Any], _description("Requests and limits of the container.")] = field(
        default_factory=_page_resources
    )
    node_selector: Annotated[dict[str, str], _description("Labels of the nodes that its pod may run on.")] = (
        field(default_factory=dict)
    )
    tolerations: Annotated[list[dict[str, Any]], _description("Taints of nodes that its pod tolerates.")] = (
        field(default_factory=list)
    )
    affinity: Annotated[dict[str, Any], _description("Affinity of its pod.")] = field(default_factory=dict)


class Monitoring(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    service_monitor: Annotated[bool, _description("ServiceMonitors, for the Prometheus operator.")] = False
    pod_monitors: Annotated[
        bool,
        _description(
            "PodMonitors of the databases: Postgres exporters, poolers and gateways, for the Prometheus operator."
        ),
    ] = False
    alerts: Annotated[bool, _description("PrometheusRules, for the Prometheus operator.")] = False
    runbook_base_url: Annotated[
        str,
        _description(
            "The address at which this repository is served, such as https://git.example.com/steward/blob/main: alerts "
            "then link to their runbooks. Default: they name the file."
        ),
    ] = ""
    dashboards: Annotated[bool, _description("ConfigMaps with dashboards, for the sidecar of Grafana.")] = (
        False
    )


class NetworkPolicyPeers(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    metrics: Annotated[
        list[dict[str, Any]],
        _description(
            "Who may read metrics, as peers of a NetworkPolicy (podSelector, namespaceSelector, ipBlock). "
            "Default: every pod, which still needs a token."
        ),
    ] = field(default_factory=list)
    webhooks: Annotated[
        list[dict[str, Any]],
        _description(
            "Who may call webhooks: the addresses from which the API server connects, as ipBlocks. Default: every pod."
        ),
    ] = field(default_factory=list)


class Values(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    namespace: Annotated[str, _description("Where the operators run.")] = NAMESPACE
    image: Annotated[Image, _description("One image for both operators.")] = Image()
    image_pull_secrets: Annotated[
        list[dict[str, str]], _description("Image pull secrets, each as {name: ...}.")
    ] = field(default_factory=list)
    multigres: Annotated[OperatorValues, _description("The multigres operator.")] = field(
        default_factory=OperatorValues
    )
    tenants: Annotated[TenantsValues, _description("The tenants operator.")] = field(
        default_factory=TenantsValues
    )
    page: Annotated[PageValues, _description("The page: both operators in a browser.")] = field(
        default_factory=PageValues
    )
    crds: Annotated[
        bool,
        _description("Whether to install the custom resource definitions. Uninstalling keeps them."),
    ] = True
    priority_class_name: Annotated[str, _description("A PriorityClass for the operators' pods.")] = ""
    webhooks: Annotated[bool, _description("Defaulting and validation when objects are applied.")] = True
    network_policy: Annotated[
        bool, _description("NetworkPolicies that let in metrics, probes and webhooks.")
    ] = True
    network_policy_peers: Annotated[NetworkPolicyPeers, _description("Who the NetworkPolicies let in.")] = (
        NetworkPolicyPeers()
    )
    admission_policies: Annotated[
        bool,
        _description(
            "ValidatingAdmissionPolicies that deny to the operators' service accounts what they never need."
        ),
    ] = True
    monitoring: Annotated[Monitoring, _description("Objects for a monitoring stack.")] = Monitoring()
