"""The ways from the token of an operator to the rights of an administrator, as requests.

`SHOP` is an ordinary namespace with an account that may do everything, one that may list all Secrets, a pod and a
Deployment of somebody else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from steward.install.admission_policy import policy_name
from steward.install.operators import MULTIGRES, OPERATORS, TENANTS, ShippedOperator
from steward.install.values import NAMESPACE
from steward.multigres import webhook_configurations as multigres_rules
from steward.tenants import webhook_configurations as tenant_rules
from tests.attacks.support.stolen_token import STRATEGIC, Attempt

SHOP = "shop"
ROOT_ACCOUNT, READER_ACCOUNT, PLAIN_ACCOUNT = "root", "reader", "web"
AGGREGATOR = "clusterrole-aggregation-controller"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1"
CONFIGURATIONS = {
    MULTIGRES: (multigres_rules.MUTATING, multigres_rules.VALIDATING),
    TENANTS: (tenant_rules.MUTATING, tenant_rules.VALIDATING),
}
EVERYTHING = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
HOST_ACCESS: dict[str, dict[str, Any]] = {
    "hostNetwork": {"hostNetwork": True},
    "hostPID": {"hostPID": True},
    "hostIPC": {"hostIPC": True},
    "hostPath": {"volumes": [{"name": "node", "hostPath": {"path": "/"}}]},
    "privileged": {"containers": [{"securityContext": {"privileged": True}}]},
    "privileged init container": {"initContainers": [{"securityContext": {"privileged": True}}]},
    "capability": {"containers": [{"securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}}]},
    "all capabilities": {"containers": [{"securityContext": {"capabilities": {"add": ["ALL"]}}}]},
    "unconfined": {"securityContext": {"seccompProfile": {"type": "Unconfined"}}},
    "unconfined container": {
        "containers": [{"securityContext": {"appArmorProfile": {"type": "Unconfined"}}}]
    },
    "SELinux": {"securityContext": {"seLinuxOptions": {"type": "spc_t"}}},
}


def workload(kind: str, namespace: str, pod: dict[str, Any] | None = None, name: str = "thief") -> Attempt:
    """Creates a Deployment, StatefulSet, DaemonSet, Job or CronJob."""
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": _pod(pod or {})}
    spec: dict[str, Any] = {"selector": {"matchLabels": labels}, "template": template}
    group = "apps/v1"
    if kind in ("Job", "CronJob"):
        template["spec"]["restartPolicy"] = "Never"
        spec, group = {"template": template}, "batch/v1"
    if kind == "CronJob":
        spec = {"schedule": "* * * * *", "jobTemplate": {"spec": spec}}
    body = {"apiVersion": group, "kind": kind, "metadata": {"name": name}, "spec": spec}
    return Attempt("POST", f"/apis/{group}/namespaces/{namespace}/{kind.lower()}s", body)


def _pod(options: dict[str, Any]) -> dict[str, Any]:
    base = {"name": "main", "image": "thief"}
    containers = [{**base, **each} for each in options.get("containers", [{}])]
    others = [{**base, "name": "init", **each} for each in options.get("initContainers", [])]
    rest = {name: value for name, value in options.items() if name not in ("containers", "initContainers")}
    return {"containers": containers, **({"initContainers": others} if others else {}), **rest}


def workload_kinds(operator: ShippedOperator) -> tuple[str, ...]:
    """The kinds with pods that the operator may create."""
    both = ("Deployment", "StatefulSet")
    return (*both, "DaemonSet", "Job", "CronJob") if operator == TENANTS else both


def secret(namespace: str, secret_type: str, account: str = "default") -> Attempt:
    annotations = {"kubernetes.io/service-account.name": account}
    name = "bootstrap-token-abcdef" if "bootstrap" in secret_type else "thief"
    body = {"metadata": {"name": name, "annotations": annotations}, "type": secret_type}
    return Attempt("POST", f"/api/v1/namespaces/{namespace}/secrets", body)


def impersonations() -> Iterator[Attempt]:
    """As accounts of the control plane, users, groups, nodes and the other operator."""
    accounts = [f"kube-system:{AGGREGATOR}", "kube-system:default", f"{SHOP}:{ROOT_ACCOUNT}"]
    accounts += [f"{NAMESPACE}:{operator.name}" for operator in OPERATORS]
    users = [f"system:serviceaccount:{account}" for account in accounts]
    for user in (*users, "system:admin", "system:kube-controller-manager", "system:node:node-1"):
        yield _as({"Impersonate-User": user})
    yield _as({"Impersonate-User": "eve", "Impersonate-Group": "system:masters"})
    yield _as({"Impersonate-User": users[0], "Impersonate-Group": "system:masters"})
    yield _as({"Impersonate-User": users[0], "Impersonate-Uid": "1"})
    yield _as({"Impersonate-User": users[0], "Impersonate-Extra-scopes": "all"})


def _as(headers: dict[str, str]) -> Attempt:
    return Attempt("GET", "/api/v1/namespaces/default", None, headers)


def token_requests() -> Iterator[Attempt]:
    accounts = [("kube-system", AGGREGATOR), (SHOP, ROOT_ACCOUNT), *((NAMESPACE, o.name) for o in OPERATORS)]
    for namespace, account in accounts:
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
        yield Attempt("POST", path, {"spec": {}})


def rbac_changes(operator: ShippedOperator) -> Iterator[Attempt]:
    """Bindings, wider roles, and roles that are aggregated into the operator's own or into `admin`."""
    subject = {"kind": "ServiceAccount", "name": operator.name, "namespace": NAMESPACE}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    binding = {"metadata": {"name": "thief"}, "roleRef": reference, "subjects": [subject]}
    yield Attempt("POST", f"{RBAC}/clusterrolebindings", binding)
    for namespace in ("kube-system", SHOP, NAMESPACE):
        yield Attempt("POST", f"{RBAC}/namespaces/{namespace}/rolebindings", binding)
    for role in (operator.name, "tenant-operator-custom-kinds", "view"):
        yield Attempt("PATCH", f"{RBAC}/clusterroles/{role}", {"rules": EVERYTHING})
    yield Attempt("PATCH", f"{RBAC}/clusterrolebindings/{operator.name}", {"subjects": [subject]})
    for label in ("kubernetes-tenants.org/aggregate-to-tenant-operator", f"{_AGGREGATE}-to-view"):
        metadata = {"name": "thief", "labels": {label: "true"}}
        yield Attempt("POST", f"{RBAC}/clusterroles", {"metadata": metadata, "rules": EVERYTHING})


_AGGREGATE = "rbac.authorization.k8s.io/aggregate"


def webhook_changes(operator: ShippedOperator) -> Iterator[Attempt]:
    """A mutating webhook for all objects could change every binding that an administrator creates."""
    every = [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}]
    elsewhere = {"url": "https://thief.example"}
    whole = {
        "name": "thief.example.com",
        "admissionReviewVersions": ["v1"],
        "clientConfig": elsewhere,
        "rules": every,
        "sideEffects": "None",
    }
    for each in OPERATORS:
        mutating, validating = CONFIGURATIONS[each]
        yield Attempt("PATCH", f"{WEBHOOKS}/mutatingwebhookconfigurations/{mutating}", {"webhooks": [whole]})
        yield Attempt("PATCH", f"{WEBHOOKS}/validatingwebhookconfigurations/{validating}", {"webhooks": []})
    mutating, _ = CONFIGURATIONS[operator]
    yield Attempt("DELETE", f"{WEBHOOKS}/mutatingwebhookconfigurations/{mutating}")
    configuration = {"metadata": {"name": "thief"}, "webhooks": [whole]}
    yield Attempt("POST", f"{WEBHOOKS}/mutatingwebhookconfigurations", configuration)


def policy_changes() -> Iterator[Attempt]:
    for operator in OPERATORS:
        for resource in ("validatingadmissionpolicies", "validatingadmissionpolicybindings"):
            path = f"{WEBHOOKS}/{resource}/{policy_name(operator)}"
            yield Attempt("DELETE", path)
            yield Attempt("PATCH", path, {"metadata": {"labels": {"a": "b"}}})


def machine_access() -> Iterator[Attempt]:
    """Into containers and nodes."""
    pod = f"/api/v1/namespaces/{SHOP}/pods/theirs"
    yield Attempt("POST", f"{pod}/exec?command=id&stdout=true")
    yield Attempt("POST", f"{pod}/attach?stdout=true")
    yield Attempt("POST", f"{pod}/portforward?ports=80")
    yield Attempt("GET", f"{pod}/proxy/")
    yield Attempt("GET", f"{pod}/log")
    yield Attempt("PATCH", f"{pod}/ephemeralcontainers", {"spec": {"ephemeralContainers": []}})
    yield Attempt("PATCH", f"{pod}/resize", {"spec": {}})
    yield Attempt("GET", "/api/v1/nodes/node-1/proxy/pods")
    yield Attempt("PATCH", "/api/v1/nodes/node-1", {"metadata": {"labels": {"a": "b"}}})
    yield Attempt("POST", "/api/v1/nodes", {"metadata": {"name": "thief"}})


def api_server_changes() -> Iterator[Attempt]:
    """Certificates, definitions, API services, volumes of nodes, and leases of the control plane."""
    signing = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
    spec = {
        "request": "",
        "signerName": "kubernetes.io/kube-apiserver-client",
        "usages": ["client auth"],
    }
    yield Attempt("POST", signing, {"metadata": {"name": "thief"}, "spec": spec})
    yield Attempt("PATCH", f"{signing}/thief/approval", {"status": {}})
    crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    yield Attempt("POST", crd, _definition())
    yield Attempt("DELETE", f"{crd}/tenants.operator.kubernetes-tenants.org")
    group = {"group": "thief.example", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1}
    service = {"service": {"name": "thief", "namespace": SHOP}, "insecureSkipTLSVerify": True}
    body = {"metadata": {"name": "v1.thief.example"}, "spec": {**group, **service}}
    yield Attempt("POST", "/apis/apiregistration.k8s.io/v1/apiservices", body)
    volume = {"metadata": {"name": "node"}, "spec": {"hostPath": {"path": "/"}}}
    yield Attempt("POST", "/api/v1/persistentvolumes", volume)
    lease = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
    yield Attempt(
        "PUT", f"{lease}/kube-controller-manager", {"metadata": {"name": "kube-controller-manager"}}
    )
    yield Attempt("POST", lease, {"metadata": {"name": "thief"}})


def _definition() -> dict[str, Any]:
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object"}},
    }
    names = {"plural": "thieves", "kind": "Thief"}
    spec = {"group": "example.com", "names": names, "scope": "Namespaced", "versions": [version]}
    return {"metadata": {"name": "thieves.example.com"}, "spec": spec}


def system_writes(operator: ShippedOperator) -> Iterator[Attempt]:
    """Into namespaces of Kubernetes, and into the operators' own."""
    for kind in workload_kinds(operator):
        yield workload(kind, "kube-system")
        yield workload(kind, NAMESPACE, {"serviceAccountName": MULTIGRES.name})
        yield workload(kind, NAMESPACE, {"serviceAccountName": TENANTS.name})
    maps = "/api/v1/namespaces/kube-system/configmaps"
    yield Attempt("PATCH", f"{maps}/extension-apiserver-authentication", {"data": {"a": "b"}})
    yield Attempt("DELETE", f"{maps}/extension-apiserver-authentication")
    yield Attempt("POST", "/api/v1/namespaces/kube-public/configmaps", {"metadata": {"name": "thief"}})
    yield Attempt("POST", "/api/v1/namespaces/kube-system/secrets", {"metadata": {"name": "thief"}})
    for each in OPERATORS:
        path = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{each.name}"
        image = {"containers": [{"name": "operator", "image": "thief"}]}
        yield Attempt("PATCH", path, {"spec": {"template": {"spec": image}}}, STRATEGIC)
        yield Attempt("DELETE", path)
    yield Attempt("POST", "/api/v1/namespaces", {"metadata": {"name": "kube-thief"}})
    yield Attempt("POST", "/api/v1/namespaces", {"metadata": {"generateName": "kube-"}})
    for name in ("kube-system", "kube-public", NAMESPACE, SHOP):
        labels = {"pod-security.kubernetes.io/enforce": "privileged"}
        yield Attempt("PATCH", f"/api/v1/namespaces/{name}", {"metadata": {"labels": labels}})
        yield Attempt("DELETE", f"/api/v1/namespaces/{name}?dryRun=All")


def powerful_pods(operator: ShippedOperator) -> Iterator[Attempt]:
    """With access to their node, or as an account with rights in the whole cluster."""
    for kind in workload_kinds(operator):
        for options in HOST_ACCESS.values():
            yield workload(kind, SHOP, options)
        for account in (ROOT_ACCOUNT, READER_ACCOUNT):
            yield workload(kind, SHOP, {"serviceAccountName": account})
            yield workload(kind, SHOP, {"serviceAccount": account})
    path = f"/apis/apps/v1/namespaces/{SHOP}/deployments/root"
    image = {"containers": [{"name": "main", "image": "another"}]}
    yield Attempt("PATCH", path, {"spec": {"template": {"spec": image}}})


def bare_pods() -> Iterator[Attempt]:
    body = {"metadata": {"name": "thief"}, "spec": _pod({})}
    yield Attempt("POST", f"/api/v1/namespaces/{SHOP}/pods", body)


def foreign_objects() -> Iterator[Attempt]:
    """What the multigres operator does not manage; of a pod, also the image of a running container."""
    core, apps = f"/api/v1/namespaces/{SHOP}", f"/apis/apps/v1/namespaces/{SHOP}"
    image = {"spec": {"containers": [{"name": "main", "image": "thief"}]}}
    yield Attempt("PATCH", f"{core}/pods/theirs", image, STRATEGIC)
    yield Attempt("PATCH", f"{core}/pods/theirs", {"metadata": {"labels": {"app": "thief"}}})
    yield Attempt("PATCH", f"{core}/pods/ours", image, STRATEGIC)
    for path in (f"{core}/configmaps/theirs", f"{core}/secrets/theirs", f"{apps}/deployments/theirs"):
        yield Attempt(
            "PATCH", path, {"metadata": {"labels": {"app.kubernetes.io/managed-by": MULTIGRES.name}}}
        )
        yield Attempt("DELETE", path)


def escalations(operator: ShippedOperator) -> dict[str, list[Attempt]]:
    """All of them, by the means."""
    return {
        "impersonation": list(impersonations()),
        "token requests": list(token_requests()),
        "roles and bindings": list(rbac_changes(operator)),
        "webhooks": list(webhook_changes(operator)),
        "the policies themselves": list(policy_changes()),
        "containers and nodes": list(machine_access()),
        "the API server": list(api_server_changes()),
        "system namespaces": list(system_writes(operator)),
        "pods without a controller": list(bare_pods()),
        "pods with more rights": list(powerful_pods(operator)),
        **({"foreign objects": list(foreign_objects())} if operator == MULTIGRES else {}),
    }
