"""The verbs that read a cluster, on a real API server: mainly `why` on objects that are broken in different ways."""

import asyncio
import json
import os
import re
import secrets
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from steward.cli.commands.hold import read_holds
from steward.cli.inspect.find import NotFoundInTrees, find_node, node_finder
from steward.cli.inspect.object_tree import TreeNode
from steward.cli.inspect.untracked_pods import read_trees_with_pods
from steward.cli.inspect.why import why_message
from steward.install import manifests
from steward.install.operators import OPERATORS
from steward.kube.client.client import Client, connect
from steward.kube.config.loader import ConfigSource, load_settings
from steward.kube.objects.kinds import Manifest
from steward.local.control_plane import ControlPlane
from tests.cli.support.broken_clusters import (
    BROKEN,
    OTHERS,
    PATIENT_TEMPLATE,
    BrokenObject,
    change_table,
    config_map,
    deployment,
    make_tables,
)
from tests.multigres.support.operator import remove_finalizers
from tests.multigres.support.operator import running_operator as running_multigres
from tests.support import definitions, namespaces
from tests.support.kubectl import Kubectl
from tests.support.programs import built_program
from tests.support.steward_command import run_steward
from tests.tenants.support.manifests import resource
from tests.tenants.support.operator import running_operator as running_tenants

# The fixture creates everything, and its time counts for the first test. The limits only matter for a broken operator.
pytestmark = pytest.mark.timeout(1200)
LIMIT_SECONDS = 240.0
VARIABLE_PARTS = (
    (r" for \d+ (s|min|h)\b", " for N"),
    (r"-[a-z0-9]{7,10}-[a-z0-9]{5}\b", "-…"),
    (r"\b0/\d+ nodes", "0/N nodes"),
    (r"\b\d+ node\(s\)", "N node(s)"),
    # Other tests leave cordoned nodes in the same Kubernetes.
    (r"N node\(s\) were unschedulable, ", ""),
)


TENANTS = {
    "emptied": ("one", "two"),
    "shrinking": ("s-one", "s-two", "s-three", "s-four"),
    "patient": ("umbrella",),
}


class BrokenNamespace:
    """A namespace of broken objects, and the verbs to inspect it."""

    def __init__(self, plane: ControlPlane, namespace: str, place: Path) -> None:
        self.plane = plane
        self.namespace = namespace
        self.place = place

    def steward(self, *arguments: str, kubeconfig: Path | None = None) -> subprocess.CompletedProcess[str]:
        where = ("-n", self.namespace, "--kubeconfig", str(kubeconfig or self.plane.kubeconfig))
        return run_steward(*arguments, *where)

    async def run_until(self, code: int, *arguments: str) -> str:
        """Runs a verb until it exits with this code; returns its output."""
        deadline = time.monotonic() + LIMIT_SECONDS
        while (done := self.steward(*arguments)).returncode != code and time.monotonic() < deadline:
            await asyncio.sleep(0.5)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    async def why(self, target: str) -> str:
        """The sentence of `why`, without the parts that differ between runs."""
        try:
            message = why_message(find_node(await self._read_trees(target), target), time.time())
        except NotFoundInTrees:
            message = ""
        for pattern, replacement in VARIABLE_PARTS:
            message = re.sub(pattern, replacement, message)
        return message.replace(self.namespace, "{n}")

    async def _read_trees(self, target: str) -> tuple[TreeNode, ...]:
        async with self._client() as client:
            return await read_trees_with_pods(client, self.namespace, node_finder(target))

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[Client]:
        source = ConfigSource(kubeconfig=str(self.plane.kubeconfig), environ={})
        client = await connect(load_settings(source))
        try:
            yield client
        finally:
            await client.close()

    async def wait_for_hold(self, name: str, *, is_held: bool) -> Any:
        """Waits until a registry has a held deletion, or has none; returns it."""
        deadline = time.monotonic() + LIMIT_SECONDS
        async with self._client() as client:
            while True:
                holds = {held.ref.key.name: held for held in await read_holds(client, self.namespace)}
                if (name in holds) is is_held:
                    return holds.get(name)
                assert time.monotonic() < deadline, f"timed out; held: {sorted(holds)}"
                await asyncio.sleep(0.5)

    async def wait_for_sentence(self, broken: BrokenObject) -> str:
        deadline = time.monotonic() + LIMIT_SECONDS
        while (message := await self.why(broken.target)) != broken.sentence and time.monotonic() < deadline:
            await asyncio.sleep(0.5)
        return message


@pytest.fixture(scope="module")
def kubectl(control_plane: ControlPlane) -> Kubectl:
    found = Kubectl(control_plane.kubeconfig)
    items = [definition for operator in OPERATORS for definition in manifests.crds(operator)]
    definitions.apply_crds(control_plane, found, items)
    return found


@pytest.fixture(scope="module")
def broken_namespace(
    control_plane: ControlPlane, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrokenNamespace]:
    """All broken objects at once, with both operators running: they become ready in parallel."""
    name, place = f"why-{secrets.token_hex(4)}", tmp_path_factory.mktemp("why")
    make_tables(place)
    kubectl("create", "namespace", name)
    kubectl("wait", "--for=create", "serviceaccount/default", "-n", name, "--timeout=120s")
    items = [*(manifest for broken in BROKEN for manifest in broken.manifests), *OTHERS]
    tenants = [f"{uid}-{registry}-app" for registry, uids in TENANTS.items() for uid in uids]
    with (
        running_multigres(control_plane, name, place / "multigres.log"),
        running_tenants(control_plane, name, place / "tenants.log"),
    ):
        kubectl("apply", "-n", name, "-f", "-", document={"apiVersion": "v1", "kind": "List", "items": items})
        for each in tenants:  # kubectl does not wait for several objects that do not exist yet
            kubectl("wait", f"tenant/{each}", "-n", name, "--for=create", "--timeout=240s")
        change_table(place, "emptied", "DELETE FROM customers")
        yield BrokenNamespace(control_plane, name, place)
        if namespaces.external_control_plane():
            _delete_tenants(kubectl, name)
    namespaces.release_namespace(kubectl.server, name)


def _delete_tenants(kubectl: Kubectl, namespace: str) -> None:
    kubectl("delete", "tenants", "--all", "-n", namespace, "--timeout=240s")
    remove_finalizers(kubectl, namespace)
    held = kubectl.json("get", "tenantregistries,tenanttemplates", "-n", namespace)["items"]
    for item in held:
        what = f"{item['kind'].lower()}/{item['metadata']['name']}"
        free = '{"metadata":{"finalizers":null}}'
        kubectl.run("patch", what, "-n", namespace, "--type=merge", "-p", free)


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.target)
async def test_why_explains_the_cause_in_one_sentence(
    broken_namespace: BrokenNamespace, broken: BrokenObject
) -> None:
    assert await broken_namespace.wait_for_sentence(broken) == broken.sentence


async def test_why_prints_the_cause_and_exits_with_1(broken_namespace: BrokenNamespace) -> None:
    await broken_namespace.wait_for_sentence(
        next(each for each in BROKEN if each.target == "tenantregistry/doubled")
    )
    done = broken_namespace.steward("why", "tenantregistry/doubled")
    assert done.returncode == 1, done.stderr
    assert "2 rows have this uid" in done.stdout


def test_a_missing_object_is_reported_in_one_sentence(broken_namespace: BrokenNamespace) -> None:
    done = broken_namespace.steward("why", "mgc/missing")
    assert done.returncode == 1
    assert done.stderr.startswith(
        f"Error: there is no mgc/missing in namespace {broken_namespace.namespace}; "
    )


def test_status_puts_problems_first_and_prints_json(broken_namespace: BrokenNamespace) -> None:
    found = json.loads(broken_namespace.steward("status", "-o", "json").stdout)
    assert {each["name"] for each in found} >= {"crashed", "fileless", "lonely"}
    assert [each["isWell"] for each in found] == sorted(each["isWell"] for each in found)
    drawn = broken_namespace.steward("tree", "-o", "yaml")
    assert drawn.returncode == 0
    assert "kind: TenantRegistry" in drawn.stdout


def test_rows_are_shown_as_the_operator_reads_them(broken_namespace: BrokenNamespace) -> None:
    done = broken_namespace.steward("rows", "doubled", "--sqlite-root", str(broken_namespace.place))
    assert done.returncode == 1, done.stderr
    assert re.search(r"^same +rejected +2 rows have this uid: leave one of them$", done.stdout, re.MULTILINE)
    assert done.stdout.endswith("2 rows: 0 active, 0 inactive, 1 rejected\n")


def test_an_unreadable_table_is_reported_in_one_sentence(broken_namespace: BrokenNamespace) -> None:
    done = broken_namespace.steward("rows", "passwordless")
    assert done.returncode == 1
    assert done.stderr.startswith("Error: the table of TenantRegistry")
    assert "Secret no-such-secret does not exist" in done.stderr


async def test_preview_shows_what_the_next_sync_would_do(broken_namespace: BrokenNamespace) -> None:
    root = ("--sqlite-root", str(broken_namespace.place))
    assert broken_namespace.steward("preview", "patient", *root).stdout == "Nothing would change.\n"
    change_table(
        broken_namespace.place,
        "patient",
        "INSERT INTO customers VALUES ('hooli', 'https://hooli', '1', 'gold')",
    )
    done = broken_namespace.steward("preview", "patient", *root)
    assert done.returncode == 2, done.stderr
    assert done.stdout == (
        "+ ConfigMap {n}/hooli-patient\n+ Tenant {n}/hooli-patient-app\nWould create 1 ConfigMap, 1 Tenant.\n"
    ).replace("{n}", broken_namespace.namespace)
    change_table(broken_namespace.place, "patient", "UPDATE customers SET active = '0'")
    gone = json.loads(broken_namespace.steward("preview", "patient", *root, "-o", "json").stdout)
    assert [(each["verdict"], each["kind"], each["name"]) for each in gone] == [
        ("delete", "ConfigMap", "umbrella-patient"),
        ("delete", "Tenant", "umbrella-patient-app"),
    ]
    change_table(broken_namespace.place, "patient", "UPDATE customers SET active = '1' WHERE id = 'umbrella'")


def preview_file(
    broken_namespace: BrokenNamespace, place: Path, *documents: Manifest
) -> subprocess.CompletedProcess[str]:
    file = place / "changed.yaml"
    file.write_text("\n---\n".join(map(json.dumps, documents)))
    return broken_namespace.steward("preview", "-f", str(file), "--sqlite-root", str(broken_namespace.place))


def changed_patient(**lists: Any) -> Manifest:
    return {**PATIENT_TEMPLATE, "spec": {**PATIENT_TEMPLATE["spec"], **lists}}


def test_preview_shows_what_a_changed_template_does_to_objects(
    broken_namespace: BrokenNamespace, tmp_path: Path
) -> None:
    name = {"name": "new"}
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": name}
    another = changed_patient(configMaps=[config_map("{{ .uid }}-patient", "another")])
    done = preview_file(broken_namespace, tmp_path, role, another)
    assert done.returncode == 2, done.stderr
    assert "~ TenantTemplate" in done.stdout
    assert "+ ClusterRole new\n" in done.stdout
    of_object = done.stdout.partition(f"~ ConfigMap {broken_namespace.namespace}/umbrella-patient\n")[2]
    assert re.search(r"^    - +value: x\n    \+ +value: another$", of_object, re.MULTILINE)
    assert "template-generation" not in done.stdout


WRONG_TYPE = deployment("web:1")
WRONG_TYPE["spec"]["replicas"] = "3"


@pytest.mark.parametrize(
    ("lists", "sentence"),
    [
        (
            {"deployments": [resource(id="web", nameTemplate="w", spec=WRONG_TYPE)]},
            "/w: spec.replicas: must be a whole number, and is text: remove the quotes\n",
        ),
        (
            {"configMaps": [config_map("{{ .uid }}-patient", "{{ .nothing }}")]},
            "umbrella-patient-app: cannot be",
        ),
        ({"configMaps": [config_map("kube-root-ca.crt", "x")]}, "exists with different owner"),
    ],
    ids=["wrong type", "unrendered", "foreign object"],
)
def test_preview_rejects_what_the_operator_could_not_apply(
    broken_namespace: BrokenNamespace, tmp_path: Path, lists: dict[str, Any], sentence: str
) -> None:
    done = preview_file(broken_namespace, tmp_path, changed_patient(**lists))
    assert done.returncode == 1, done.stdout + done.stderr
    assert sentence in done.stdout
    assert "would be refused." in done.stdout


def test_preview_counts_the_fields_that_a_plain_apply_removes(
    broken_namespace: BrokenNamespace, kubectl: Kubectl, tmp_path: Path
) -> None:
    name = broken_namespace.namespace
    kubectl.run("apply", "-n", name, "-f", "-", document=PATIENT_TEMPLATE)
    done = preview_file(broken_namespace, tmp_path, changed_patient(configMaps=[]))
    assert done.returncode == 2, done.stderr
    first, *_, last = done.stdout.splitlines()
    assert first == f"- ConfigMap {name}/umbrella-patient: the template no longer makes it"
    assert last == "Would delete 1 ConfigMap, change 1 TenantTemplate."


def test_preview_shows_no_value_of_a_secret_that_was_applied(
    broken_namespace: BrokenNamespace, kubectl: Kubectl, tmp_path: Path
) -> None:
    def secret(**values: str) -> Manifest:
        metadata = {"name": "canary", "namespace": broken_namespace.namespace}
        return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": values}

    kubectl.run("apply", "-f", "-", document=secret(password="canary-old"))
    for output in ("text", "wide", "json", "yaml"):
        file = tmp_path / "secret.yaml"
        file.write_text(json.dumps(secret(password="canary-new")))
        done = broken_namespace.steward("preview", "-f", str(file), "-o", output)
        assert done.returncode == 2, done.stderr
        assert "(another value)" in done.stdout
        shown = done.stdout + done.stderr
        assert not [word for word in ("canary-old", "canary-new", "Y2FuYXJ5L") if word in shown]


def test_preview_shows_held_deletions(broken_namespace: BrokenNamespace) -> None:
    done = broken_namespace.steward("preview", "emptied", "--sqlite-root", str(broken_namespace.place))
    assert done.returncode == 2, done.stderr
    assert done.stdout.startswith("! 2 Tenants are not deleted")


async def test_a_held_deletion_is_listed_and_approved_by_name(broken_namespace: BrokenNamespace) -> None:
    change_table(broken_namespace.place, "shrinking", "UPDATE customers SET active = '0' WHERE id <> 's-one'")

    held = await broken_namespace.wait_for_hold("shrinking", is_held=True)
    assert held.deletion["count"] == 3
    refused = broken_namespace.steward("hold", "approve", "emptied", "--yes")
    assert refused.returncode == 1
    assert "this deletion cannot be approved" in refused.stderr
    # A concurrent write causes a conflict; the next try approves what is held then.
    await broken_namespace.run_until(0, "hold", "approve", "shrinking", "--yes")
    await broken_namespace.wait_for_hold("shrinking", is_held=False)


@pytest.fixture(scope="module")
def powerless(
    broken_namespace: BrokenNamespace, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The kubeconfig of a user without any rights."""
    token = kubectl("create", "token", "default", "-n", broken_namespace.namespace, "--duration=1h").strip()
    cluster = {
        "server": broken_namespace.plane.url,
        "certificate-authority": str(broken_namespace.plane.ca_file),
    }
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": token}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    file = tmp_path_factory.mktemp("powerless") / "kubeconfig"
    file.write_text(json.dumps(content))
    return file


@pytest.mark.parametrize(
    "verb",
    [["status"], ["why", "mgc/crashed"], ["hold"], ["rows", "doubled"], ["preview", "doubled"]],
    ids=lambda verb: verb[0],
)
def test_a_forbidden_request_is_reported_in_one_sentence(
    broken_namespace: BrokenNamespace, powerless: Path, verb: list[str]
) -> None:
    done = broken_namespace.steward(*verb, kubeconfig=powerless)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: ")
    assert "Ask an administrator of the cluster for that right" in done.stderr
    assert "Traceback" not in done.stderr


def test_doctor_reports_every_check_that_is_forbidden(
    broken_namespace: BrokenNamespace, powerless: Path
) -> None:
    done = broken_namespace.steward("doctor", "-o", "json", kubeconfig=powerless)
    assert done.returncode == 0, done.stderr
    found = {each["subject"]: each for each in json.loads(done.stdout)}
    assert found["API server"]["grade"] == "fine"
    assert found["definitions"]["grade"] == "unknown"
    assert all(each["cure"] for each in found.values() if each["grade"] != "fine")


def test_doctor_checks_only_the_selected_operator(broken_namespace: BrokenNamespace) -> None:
    done = broken_namespace.steward("doctor", "--only", "multigres", "-o", "json")
    subjects = [each["subject"] for each in json.loads(done.stdout)]
    assert "multigres-operator leader" in subjects
    assert not any("tenant" in subject or "source" in subject for subject in subjects)


def test_kubectl_runs_steward_as_a_plugin(broken_namespace: BrokenNamespace, tmp_path: Path) -> None:
    plugin = tmp_path / "kubectl-steward"
    plugin.write_text(
        f"#!{sys.executable}\nimport sys\nsys.argv[0] = {str(plugin)!r}\n"
        "from steward.cli.main import main\nmain()\n"
    )
    plugin.chmod(0o755)
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "KUBECONFIG": str(broken_namespace.plane.kubeconfig)}
    kubectl = str(built_program("kubectl"))
    done = subprocess.run(
        [kubectl, "steward", "why"],
        env=os.environ | path,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("Usage: kubectl steward why ")


def test_a_sync_reads_the_table_of_a_registry_now(
    broken_namespace: BrokenNamespace, kubectl: Kubectl
) -> None:
    """The registry is read once a day."""
    change_table(
        broken_namespace.place,
        "patient",
        "INSERT INTO customers VALUES ('wayne', 'https://wayne', '1', 'gold')",
    )
    done = broken_namespace.steward("sync", "patient")
    assert done.returncode == 0, done.stderr
    assert " active rows, " in done.stdout
    kubectl("get", "tenant", "wayne-patient-app", "-n", broken_namespace.namespace)
    traced = broken_namespace.steward("trace", "tenant/wayne-patient-app", "-o", "json")
    assert [(each["kind"], each["name"]) for each in json.loads(traced.stdout)] == [
        ("Tenant", "wayne-patient-app"),
        ("TenantTemplate", "patient-app"),
        ("TenantRegistry", "patient"),
    ]


def test_a_sync_of_a_table_that_cannot_be_read_is_an_error(broken_namespace: BrokenNamespace) -> None:
    done = broken_namespace.steward("sync", "fileless")
    assert done.returncode == 1
    assert "sqlite.file 'fileless.db' does not exist" in done.stderr


def test_a_paused_registry_is_not_synced(broken_namespace: BrokenNamespace) -> None:
    assert broken_namespace.steward("pause", "tenantregistry/doubled").returncode == 0
    done = broken_namespace.steward("sync", "doubled")
    assert (done.returncode, "is paused: `steward resume tenantregistry/doubled" in done.stderr) == (1, True)
    assert broken_namespace.steward("resume", "tenantregistry/doubled").returncode == 0
