"""The commands in the documents, page by page, and values for their placeholders.

A command is a line of an indented or fenced block that starts with one of our programs; on a runbook, also inline code.
Each is run with the sample of `steward up`, or is listed below with the test that runs it elsewhere, or with the reason
why no test does.
"""

from __future__ import annotations

import re

from tests.support.paths import ROOT

_PROGRAMS = r"(?:\.venv/bin/steward|steward|kubectl|helm|make|python)"
_INDENTED = re.compile(rf"^ {{4,}}({_PROGRAMS} .*)$", re.MULTILINE)
_FENCED = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(rf"`({_PROGRAMS} [^`]+)`")

INSTALLATION_TEST = "tests/install/test_installation.py"
AS_INSTALLED_TEST = "tests/install/test_as_installed.py"
IMPERSONATION_TEST = "tests/tenants/integration/test_tenant_permissions.py"
NAMESPACES_TEST = "tests/attacks/test_template_author_namespaces.py"
CONVERT_TEST = "tests/cli/commands/test_convert.py"
MIGRATION_TEST = "tests/tenants/integration/test_migration.py"
PASSWORD_TEST = "tests/multigres/integration/test_password_rotation.py"
PAGE_TEST = "tests/page/integration/test_on_a_server.py"
RESTORE_TEST = "tests/multigres/integration/test_restore.py"
TAKEOVER_TEST = "tests/multigres/integration/test_go_takeover.py"
TOPOLOGY_TEST = "tests/multigres/integration/test_topology.py"

# Prefix of a command: the test that runs it, on another control plane than that of the sample.
RUN_ELSEWHERE: dict[str, str] = {
    "helm ": INSTALLATION_TEST,
    "steward install": INSTALLATION_TEST,
    "steward uninstall": INSTALLATION_TEST,
    "kubectl apply --server-side -k config/default": INSTALLATION_TEST,
    "kubectl apply --server-side --force-conflicts -k config/default": INSTALLATION_TEST,
    "kubectl apply -k config/monitoring": INSTALLATION_TEST,
    "kubectl apply -k config/webhook": INSTALLATION_TEST,
    "kubectl rollout restart -n steward-system": INSTALLATION_TEST,
    "kubectl logs -n steward-system": AS_INSTALLED_TEST,
    "kubectl get secret multigres-webhook-certs": AS_INSTALLED_TEST,
    "kubectl create role tenant-operator-impersonation": IMPERSONATION_TEST,
    "kubectl create rolebinding tenant-operator-impersonation": IMPERSONATION_TEST,
    "kubectl label namespace shared": NAMESPACES_TEST,
    "kubectl patch secret shop-postgres-password": PASSWORD_TEST,
    "python -m steward.testkit.fake_data_plane": TOPOLOGY_TEST,
    "steward run multigres --connect-to": TOPOLOGY_TEST,
    "kubectl annotate toposerver mini-global-topo": TOPOLOGY_TEST,
    "steward convert": CONVERT_TEST,
    "steward page": PAGE_TEST,
    "steward restore -f shop.yaml": RESTORE_TEST,
    "kubectl delete pvc pgdata-SERVER": RESTORE_TEST,
    "kubectl delete pod SERVER": RESTORE_TEST,
    "kubectl scale deployment --replicas=0 -n NAMESPACE DEPLOYMENT": TAKEOVER_TEST,
    "steward lint new.yaml": CONVERT_TEST,
    "kubectl apply --server-side --force-conflicts -f config/crd/": TAKEOVER_TEST,
    "kubectl apply --server-side --force-conflicts -f new.yaml": TAKEOVER_TEST,
    "kubectl get lynqhubs,lynqforms": MIGRATION_TEST,
    "kubectl patch lynqnode": MIGRATION_TEST,
}

TOO_SLOW = "takes too long: a test checks that the target exists"
SYNOPSIS = "a synopsis, not a command to run"
NO_CONTAINER = "needs a container that runs"
NO_METRICS_SERVER = "needs the metrics server"
NO_ENGINE = "needs a container engine: tests/install/test_image.py runs the same steps without one"
NO_ARGO_CD = "needs Argo CD: tests/install/test_argocd.py runs the scripts"

# Prefix of a command: why no test runs it.
NOT_RUN: dict[str, str] = {
    "make ": TOO_SLOW,
    "docker build": NO_ENGINE,
    "kubectl port-forward": NO_CONTAINER,
    "kubectl exec <pod>": NO_CONTAINER,
    "kubectl top pod": NO_METRICS_SERVER,
    "steward psql": "needs a container that listens: tests/cli/commands/running/test_psql.py runs it",
    "kubectl patch configmap argocd-cm": NO_ARGO_CD,
    "steward up [": SYNOPSIS,
    "steward up --containers [": SYNOPSIS,
    "steward down [": SYNOPSIS,
    "steward kubectl ...": SYNOPSIS,
}


def named(kind: str, selector: str) -> str:
    """A shell expression for the name of the first such object."""
    return f"$(kubectl get {kind} -l {selector} -o jsonpath='{{.items[0].metadata.name}}')"


_REVISION = named("controllerrevisions", "multigres.com/cluster=demo,multigres.com/template=standard")
_PLACEHOLDERS: dict[str, str] = {
    "<namespace>": "shop",
    "<cluster>": "shop",
    "<cell>": named("cell", "multigres.com/cluster=shop"),
    "<shard>": named("shard", "multigres.com/cluster=shop"),
    "multigres.com/shard=<name>,multigres.com/pool=<pool>": "multigres.com/shard=0-inf,multigres.com/pool=main",
    "<pool>": "main",
    "mgc <name>": "mgc shop",
    "<kind> <name>": "multigrescluster shop",
    "<pod>": named("pod", "multigres.com/cluster=shop,multigres.com/pool=main"),
    "<container>": "multipooler",
    "NAMESPACE": "shop",
    "REGISTRY": "prod",
    "TENANT": "nova-web-app",
    "TEMPLATE": "web-app",
    "KIND NAME": "configmap nova-page",
    "demo-shardtemplate-standard-3-…": _REVISION,
    "pgdata-shop-...-2": "pgdata-shop-spare-2",
}

# Preparations of commands; each waits for its condition.
_HELD = "wait tenantregistry/prod --for=condition=DeletionHeld --timeout=300s"
_PENDING = "wait mgc/demo --for=condition=TemplateUpdateAvailable --timeout=300s"
_APPLIED = "wait mgc/demo --for=condition=TemplateUpdateAvailable=false --timeout=300s"


def _wait_until_removed(annotation: str) -> str:
    """Waits until the operator has removed the annotation; until then kubectl cannot set another value."""
    value = f"kubectl get mgc demo -o jsonpath='{{.metadata.annotations.multigres\\.com/{annotation}}}'"
    return f'until [ -z "$({value})" ]; do sleep 0.2; done'


_GONE = "kubectl wait tenant/atlas-web-app tenant/birch-web-app --for=delete --timeout=300s"
_AT_REST = (_GONE, "kubectl wait tenantregistry/prod mgc/shop mgc/demo --for=condition=Ready --timeout=600s")
# Waits for the end: a later command restarts the server, which would make the backup fail and the cluster not ready.
_BACKUP = (
    """echo '{"apiVersion": "multigres.com/v1alpha1", "kind": "MultigresBackup", "metadata": {"name": "first"}, """
    """"spec": {"cluster": "shop"}}' | kubectl apply --server-side -f -""",
    "kubectl wait mgb/first --for=jsonpath='{.status.phase}'=Completed --timeout=300s",
)
PREPARATIONS: dict[str, tuple[str, ...]] = {
    "kubectl get mgb": _BACKUP,
    "kubectl get mgb -n <namespace> -o wide": _BACKUP,
    "steward preview tenantregistry/prod": (_GONE,),
    "steward render -f tenants.yaml --rows rows.csv": (
        r"printf 'id,url,active\nnova,https://nova.example.com,1\n' > rows.csv",
    ),
    "steward status": _AT_REST,
    "steward why multigrescluster/shop": _AT_REST,
    "steward hold": (
        """python -c 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute("""
        """"DELETE FROM customers WHERE id IN (?, ?)", sys.argv[2:]); c.commit()' "$ROWS" atlas birch""",
        f"kubectl {_HELD}",
    ),
    "steward updates -A": (
        "kubectl wait mgc/demo --for=condition=Ready --timeout=600s",
        """kubectl patch shardtemplate standard --type merge -p '{"spec":{"multiorch":{"replicas":2}}}'""",
        f"kubectl {_PENDING}",
    ),
    "kubectl annotate mgc demo multigres.com/apply-template-update=true": (
        f"kubectl {_APPLIED}",
        _wait_until_removed("apply-template-update"),
    ),
    "steward updates rollback demo demo-shardtemplate-standard-3-… -n shop": (
        _wait_until_removed("apply-template-update"),
    ),
    "kubectl annotate mgc demo multigres.com/rollback-template-update=demo-shardtemplate-standard-3-…": (
        _wait_until_removed("rollback-template-update"),
    ),
    "kubectl delete pvc pgdata-shop-...-2": ("kubectl apply -f claim.yaml",),
    "kubectl get namespaces -l kubernetes-tenants.org/tenant": (
        "kubectl create namespace taken-over",
        "kubectl label namespace taken-over kubernetes-tenants.org/tenant=atlas-web-app",
    ),
}
# `hold` and `updates` exit with 1 if something is pending, `preview` with 2 if something would change.
EXIT_CODES: dict[str, int] = {
    "steward hold": 1,
    "steward updates -A": 1,
    "steward preview -f template.yaml -n shop": 2,
}


def pages_with_commands() -> list[str]:
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    names = sorted(str(path.relative_to(ROOT)) for path in found)
    return [name for name in names if "reference/" not in name and commands_on_page(name)]


def inline_commands() -> list[tuple[str, str]]:
    """Inline code that names a command, with its page; mostly only a verb."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return [
        (str(path.relative_to(ROOT)), " ".join(command.split()))
        for path in sorted(found)
        for command in _INLINE.findall(path.read_text())
    ]


def commands_on_page(page: str) -> list[str]:
    text = (ROOT / page).read_text()
    found = _INDENTED.findall(text)
    found += [line for block in _FENCED.findall(text) for line in block.splitlines() if line]
    if "runbooks/" in page:
        found += _INLINE.findall(text)
    return [re.sub(r" {2,}# .*$", "", line).strip() for line in found]


def log_commands() -> list[tuple[str, str]]:
    """Commands that print the log of an operator, each with the command that searches it."""
    commands = (command for page in pages_with_commands() for command in commands_on_page(page))
    pairs = (each.split(" | ") for each in commands if each.startswith("kubectl logs -n steward-system"))
    return [(show, search) for show, search in pairs]


def runs_on_sample(command: str) -> bool:
    """Whether the command is run on the cluster of `steward up`."""
    return not command.startswith((*RUN_ELSEWHERE, *NOT_RUN))


def only_reads(command: str) -> bool:
    """Whether another run of the command finds the same: such a command of several pages is run once."""
    return command.startswith(("kubectl get ", "kubectl describe ", "kubectl events ", "kubectl logs "))


def fill_placeholders(command: str) -> str:
    for placeholder, value in _PLACEHOLDERS.items():
        command = command.replace(placeholder, value)
    return command
