"""The commands that the documents print, page by page, and what stands for the placeholders in them.

A command is a line of an indented or fenced block that begins with one of our programs; on a runbook, also what stands
between backticks and says what to look at. Each is run beside the sample of the first five minutes, or is named below
with the test that runs it elsewhere, or with the reason why none does.
"""

from __future__ import annotations

import re

from tests.support.paths import ROOT

_PROGRAMS = r"(?:\.venv/bin/steward|steward|kubectl|helm|make|python)"
_INDENTED = re.compile(rf"^ {{4,}}({_PROGRAMS} .*)$", re.MULTILINE)
_FENCED = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(rf"`({_PROGRAMS} [^`]+)`")

INSTALLING = "tests/install/test_installation.py"
AS_INSTALLED = "tests/install/test_as_installed.py"
STAND_IN = "tests/multigres/integration/test_topology.py"

# A command begins so: which other test types it, on another control plane than the sample's.
ELSEWHERE: dict[str, str] = {
    "helm ": INSTALLING,
    "steward install": INSTALLING,
    "steward uninstall": INSTALLING,
    "kubectl apply --server-side -k config/default": INSTALLING,
    "kubectl apply --server-side --force-conflicts -k config/default": INSTALLING,
    "kubectl apply -k config/monitoring": INSTALLING,
    "kubectl apply -k config/webhook": INSTALLING,
    "kubectl rollout restart -n steward-system": INSTALLING,
    "kubectl logs -n steward-system": AS_INSTALLED,
    "kubectl get secret multigres-webhook-certs": AS_INSTALLED,
    "python -m steward.testkit.fake_data_plane": STAND_IN,
    "steward run multigres --connect-to": STAND_IN,
    "kubectl annotate toposerver mini-global-topo": STAND_IN,
}

WHOLE_RUN = "a run of its own: a test sees to it that the target is there"
SYNOPSIS = "says what can be typed, not what to type"
NO_ENGINE = "no container engine is here: tests/install/test_image.py takes the same steps without one"

# A command begins so: why no test types it.
NOT_RUN: dict[str, str] = {
    "make ": WHOLE_RUN,
    "docker build": NO_ENGINE,
    "steward up [": SYNOPSIS,
    "steward down [": SYNOPSIS,
    "steward kubectl ...": SYNOPSIS,
}


def named(kind: str, selector: str) -> str:
    """In a command: the name of the first such object."""
    return f"$(kubectl get {kind} -l {selector} -o jsonpath='{{.items[0].metadata.name}}')"


_REVISION = named("controllerrevisions", "multigres.com/cluster=demo,multigres.com/template=standard")
_PLACEHOLDERS: dict[str, str] = {
    "<namespace>": "shop",
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
    "KIND NAME": "configmap nova-page",
    "demo-shardtemplate-standard-3-…": _REVISION,
    "pgdata-shop-...-2": "pgdata-shop-spare-2",
}

# What must be so before a command makes sense; it is waited for.
_HELD = "wait tenantregistry/prod --for=condition=DeletionHeld --timeout=300s"
_PENDING = "wait mgc/demo --for=condition=TemplateUpdateAvailable --timeout=300s"
_TAKEN = "wait mgc/demo --for=condition=TemplateUpdateAvailable=false --timeout=300s"


def _taken_away(annotation: str) -> str:
    """The operator has seen it; until then kubectl sets no other value."""
    value = f"kubectl get mgc demo -o jsonpath='{{.metadata.annotations.multigres\\.com/{annotation}}}'"
    return f'until [ -z "$({value})" ]; do sleep 0.2; done'


_GONE = "kubectl wait tenant/atlas-web-app tenant/birch-web-app --for=delete --timeout=300s"
_AT_REST = (_GONE, "kubectl wait tenantregistry/prod mgc/shop mgc/demo --for=condition=Ready --timeout=600s")
BEFORE: dict[str, tuple[str, ...]] = {
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
        f"kubectl {_TAKEN}",
        _taken_away("apply-template-update"),
    ),
    "steward updates rollback demo demo-shardtemplate-standard-3-… -n shop": (
        _taken_away("apply-template-update"),
    ),
    "kubectl annotate mgc demo multigres.com/rollback-template-update=demo-shardtemplate-standard-3-…": (
        _taken_away("rollback-template-update"),
    ),
    "kubectl delete pvc pgdata-shop-...-2": ("kubectl apply -f claim.yaml",),
}
# `hold` and `updates` say by their exit code that something waits, `preview` that something would change.
CODES: dict[str, int] = {
    "steward hold": 1,
    "steward updates -A": 1,
    "steward preview -f template.yaml -n shop": 2,
}


def pages() -> list[str]:
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    names = sorted(str(path.relative_to(ROOT)) for path in found)
    return [name for name in names if "reference/" not in name and commands_of(name)]


def mentioned() -> list[tuple[str, str]]:
    """What prose says between backticks to type, with its page; mostly a verb's name, and no whole command."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return [
        (str(path.relative_to(ROOT)), " ".join(command.split()))
        for path in sorted(found)
        for command in _INLINE.findall(path.read_text())
    ]


def commands_of(page: str) -> list[str]:
    text = (ROOT / page).read_text()
    found = _INDENTED.findall(text)
    found += [line for block in _FENCED.findall(text) for line in block.splitlines() if line]
    if "runbooks/" in page:
        found += _INLINE.findall(text)
    return [re.sub(r" {2,}# .*$", "", line).strip() for line in found]


def about_the_logs() -> list[tuple[str, str]]:
    """The commands that show what an operator has logged, each with the one that looks for something in it."""
    commands = (command for page in pages() for command in commands_of(page))
    pairs = (each.split(" | ") for each in commands if each.startswith("kubectl logs -n steward-system"))
    return [(shows, searches) for shows, searches in pairs]


def is_for_the_sample(command: str) -> bool:
    """Whether it is typed on the cluster of the first five minutes."""
    return not command.startswith((*ELSEWHERE, *NOT_RUN))


def filled_in(command: str) -> str:
    for placeholder, value in _PLACEHOLDERS.items():
        command = command.replace(placeholder, value)
    return command
