"""The verbs that look at a cluster, on a real one: above all `why`, on worlds that are broken in different ways."""

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
from steward.cli.commands.why import found_in
from steward.cli.inspect.object_tree import Branch
from steward.cli.inspect.untracked_pods import dug_families
from steward.cli.inspect.why import why
from steward.install import manifests
from steward.install.operators import SHIPPED
from steward.kube.client.client import Client, connect
from steward.kube.config.loader import ConfigSource, load_settings
from steward.local.control_plane import ControlPlane
from tests.cli.support.broken_clusters import (
    BROKEN,
    OTHERS,
    PATIENT_TEMPLATE,
    Broken,
    change_table,
    make_tables,
)
from tests.multigres.conftest import let_go
from tests.multigres.conftest import running_operator as running_multigres
from tests.support import definitions, namespaces
from tests.support.kubectl import Kubectl
from tests.support.programs import program
from tests.tenants.conftest import running_operator as running_tenants

# The fixture makes everything at once, and counts for the first test: the limits are for a broken operator.
pytestmark = pytest.mark.timeout(1200)
LIMIT_SECONDS = 240.0
SHIFTING = (
    (r" for \d+ (s|min|h)\b", " for N"),
    (r"-[a-z0-9]{7,10}-[a-z0-9]{5}\b", "-…"),
    (r"\b0/\d+ nodes", "0/N nodes"),
    (r"\b\d+ node\(s\)", "N node(s)"),
)


TENANTS = {
    "emptied": ("one", "two"),
    "shrinking": ("s-one", "s-two", "s-three", "s-four"),
    "patient": ("umbrella",),
}


class Ward:
    """A namespace of broken things."""

    def __init__(self, plane: ControlPlane, namespace: str, place: Path) -> None:
        self.plane = plane
        self.namespace = namespace
        self.place = place

    def steward(self, *arguments: str, kubeconfig: Path | None = None) -> subprocess.CompletedProcess[str]:
        where = ("-n", self.namespace, "--kubeconfig", str(kubeconfig or self.plane.kubeconfig))
        command = [sys.executable, "-m", "steward.cli.main", *arguments, *where]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    async def until(self, code: int, *arguments: str) -> str:
        """What a verb says once it ends with this code."""
        deadline = time.monotonic() + LIMIT_SECONDS
        while (done := self.steward(*arguments)).returncode != code and time.monotonic() < deadline:
            await asyncio.sleep(0.5)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    async def said(self, asked: str) -> str:
        """The sentence, without what differs from run to run."""
        kind, _, name = asked.partition("/")
        branch = found_in(await self._look(), kind, name)
        told = "" if branch is None else why(branch, time.time())
        for pattern, instead in SHIFTING:
            told = re.sub(pattern, instead, told)
        return told.replace(self.namespace, "{n}")

    async def _look(self) -> tuple[Branch, ...]:
        async with self._client() as client:
            return await dug_families(client, self.namespace)

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[Client]:
        source = ConfigSource(kubeconfig=str(self.plane.kubeconfig), environ={})
        client = await connect(load_settings(source))
        try:
            yield client
        finally:
            await client.close()

    async def until_held(self, name: str, *, is_held: bool) -> Any:
        """The hold of a registry once there is one, or nothing once there is none."""
        deadline = time.monotonic() + LIMIT_SECONDS
        async with self._client() as client:
            while True:
                holds = {held.ref.key.name: held for held in await read_holds(client, self.namespace)}
                if (name in holds) is is_held:
                    return holds.get(name)
                assert time.monotonic() < deadline, f"waited in vain; held: {sorted(holds)}"
                await asyncio.sleep(0.5)

    async def until_said(self, broken: Broken) -> str:
        deadline = time.monotonic() + LIMIT_SECONDS
        while (told := await self.said(broken.asked)) != broken.sentence and time.monotonic() < deadline:
            await asyncio.sleep(0.5)
        return told


@pytest.fixture(scope="module")
def kubectl(control_plane: ControlPlane) -> Kubectl:
    found = Kubectl(control_plane.kubeconfig)
    items = [definition for operator in SHIPPED for definition in manifests.crds(operator)]
    definitions.apply(control_plane, found, items)
    return found


@pytest.fixture(scope="module")
def ward(
    control_plane: ControlPlane, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Ward]:
    """All of them at once, with one operator of each kind: what takes a while takes it for all."""
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
        for each in tenants:  # of several that are not there yet kubectl says so, and waits for none
            kubectl("wait", f"tenant/{each}", "-n", name, "--for=create", "--timeout=240s")
        change_table(place, "emptied", "DELETE FROM customers")
        yield Ward(control_plane, name, place)
        _leave_nothing(kubectl, name)


def _leave_nothing(kubectl: Kubectl, namespace: str) -> None:
    if not namespaces.kept_plane():
        namespaces.leave(kubectl.server, namespace)
        return
    kubectl("delete", "tenants", "--all", "-n", namespace, "--timeout=240s")
    let_go(kubectl, namespace)
    held = kubectl.json("get", "tenantregistries,tenanttemplates", "-n", namespace)["items"]
    for item in held:
        what = f"{item['kind'].lower()}/{item['metadata']['name']}"
        free = '{"metadata":{"finalizers":null}}'
        kubectl.outcome("patch", what, "-n", namespace, "--type=merge", "-p", free)
    kubectl("delete", "namespace", namespace, "--wait=false")


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.asked)
async def test_one_sentence_says_what_is_wrong(ward: Ward, broken: Broken) -> None:
    assert await ward.until_said(broken) == broken.sentence


async def test_the_command_says_it_and_its_code_that_something_is_wrong(ward: Ward) -> None:
    await ward.until_said(next(each for each in BROKEN if each.asked == "tenantregistry/doubled"))
    done = ward.steward("why", "tenantregistry/doubled")
    assert done.returncode == 1, done.stderr
    assert "2 rows have this uid" in done.stdout


def test_what_is_not_there_is_a_sentence_too(ward: Ward) -> None:
    done = ward.steward("why", "mgc/nobody")
    assert done.returncode == 1
    assert done.stderr.startswith("Error: there is no mgc nobody here")


def test_status_puts_problems_first_and_speaks_to_programs(ward: Ward) -> None:
    found = json.loads(ward.steward("status", "-o", "json").stdout)
    assert {each["name"] for each in found} >= {"crashed", "fileless", "lonely"}
    assert [each["isWell"] for each in found] == sorted(each["isWell"] for each in found)
    drawn = ward.steward("tree", "-o", "yaml")
    assert drawn.returncode == 0
    assert "kind: TenantRegistry" in drawn.stdout


def test_rows_are_as_the_operator_sees_them(ward: Ward) -> None:
    done = ward.steward("rows", "doubled", "--sqlite-root", str(ward.place))
    assert done.returncode == 1, done.stderr
    assert re.search(r"^same +rejected +2 rows have this uid: leave one of them$", done.stdout, re.MULTILINE)
    assert done.stdout.endswith("2 rows: 0 active, 0 inactive, 1 rejected\n")


def test_a_table_that_cannot_be_read_is_a_sentence(ward: Ward) -> None:
    done = ward.steward("rows", "passwordless")
    assert done.returncode == 1
    assert done.stderr.startswith("Error: the table of TenantRegistry")
    assert "Secret no-such-secret does not exist" in done.stderr


async def test_preview_shows_what_the_next_sync_would_do(ward: Ward) -> None:
    root = ("--sqlite-root", str(ward.place))
    assert ward.steward("preview", "patient", *root).stdout == "Nothing would change.\n"
    change_table(
        ward.place, "patient", "INSERT INTO customers VALUES ('hooli', 'https://hooli', '1', 'gold')"
    )
    done = ward.steward("preview", "patient", *root)
    assert done.returncode == 2, done.stderr
    assert done.stdout == f"+ Tenant {ward.namespace}/hooli-patient-app\nWould create 1 Tenant.\n"
    change_table(ward.place, "patient", "UPDATE customers SET active = '0'")
    gone = json.loads(ward.steward("preview", "patient", *root, "-o", "json").stdout)
    assert [(each["verdict"], each["name"]) for each in gone] == [("delete", "umbrella-patient-app")]
    change_table(ward.place, "patient", "UPDATE customers SET active = '1' WHERE id = 'umbrella'")


def test_preview_shows_what_a_changed_template_would_do(ward: Ward, tmp_path: Path) -> None:
    changed = json.loads(json.dumps(PATIENT_TEMPLATE))
    changed["spec"]["configMaps"][0]["spec"]["data"]["value"] = "another"
    beside = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "new"},
    }
    file = tmp_path / "template.yaml"
    file.write_text("\n---\n".join(map(json.dumps, (beside, changed))))
    done = ward.steward("preview", "-f", str(file), "--sqlite-root", str(ward.place))
    assert done.returncode == 2, done.stderr
    assert "~ TenantTemplate" in done.stdout
    assert "+ ClusterRole new\n" in done.stdout
    tenant = done.stdout.partition("~ Tenant ")[2]
    assert re.search(r"^    - +value: x\n    \+ +value: another$", tenant, re.MULTILINE)


def test_preview_says_what_is_held(ward: Ward) -> None:
    done = ward.steward("preview", "emptied", "--sqlite-root", str(ward.place))
    assert done.returncode == 2, done.stderr
    assert done.stdout.startswith("!: 2 Tenants are not deleted")


async def test_a_held_deletion_is_listed_and_let_go_by_its_name(ward: Ward) -> None:
    change_table(ward.place, "shrinking", "UPDATE customers SET active = '0' WHERE id <> 's-one'")

    held = await ward.until_held("shrinking", is_held=True)
    assert held.deletion["count"] == 3
    refused = ward.steward("hold", "approve", "emptied", "--yes")
    assert refused.returncode == 1
    assert "no approval lets these go" in refused.stderr
    # Whoever writes in between wins, and the next try approves what is held then.
    await ward.until(0, "hold", "approve", "shrinking", "--yes")
    await ward.until_held("shrinking", is_held=False)


@pytest.fixture(scope="module")
def powerless(ward: Ward, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kubeconfig of somebody who may do nothing."""
    token = kubectl("create", "token", "default", "-n", ward.namespace, "--duration=1h").strip()
    cluster = {"server": ward.plane.url, "certificate-authority": str(ward.plane.ca_file)}
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
def test_what_is_forbidden_is_a_sentence(ward: Ward, powerless: Path, verb: list[str]) -> None:
    done = ward.steward(*verb, kubeconfig=powerless)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: ")
    assert "Ask an administrator of the cluster for that right" in done.stderr
    assert "Traceback" not in done.stderr


def test_doctor_says_of_each_line_that_it_may_not_look(ward: Ward, powerless: Path) -> None:
    done = ward.steward("doctor", "-o", "json", kubeconfig=powerless)
    assert done.returncode == 0, done.stderr
    found = {each["subject"]: each for each in json.loads(done.stdout)}
    assert found["API server"]["grade"] == "fine"
    assert found["definitions"]["grade"] == "unknown"
    assert all(each["cure"] for each in found.values() if each["grade"] != "fine")


def test_doctor_examines_one_operator_where_only_that_one_is_installed(ward: Ward) -> None:
    done = ward.steward("doctor", "--only", "multigres", "-o", "json")
    subjects = [each["subject"] for each in json.loads(done.stdout)]
    assert "multigres-operator leader" in subjects
    assert not any("tenant" in subject or "source" in subject for subject in subjects)


def test_kubectl_takes_it_for_a_verb_of_its_own(ward: Ward, tmp_path: Path) -> None:
    plugin = tmp_path / "kubectl-steward"
    plugin.write_text(
        f"#!{sys.executable}\nimport sys\nsys.argv[0] = {str(plugin)!r}\n"
        "from steward.cli.main import main\nmain()\n"
    )
    plugin.chmod(0o755)
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "KUBECONFIG": str(ward.plane.kubeconfig)}
    kubectl = str(program("kubectl"))
    done = subprocess.run(
        [kubectl, "steward", "why"], env=os.environ | path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("Usage: kubectl steward why ")
