"""`steward restore`, with a client that answers from lists."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
import yaml
from click.testing import CliRunner, Result

from steward.cli.commands import restore
from steward.cli.main import steward
from steward.cli.restore_request import Namespaces, restored_manifest
from steward.kube.errors import NotFound
from steward.multigres import names
from steward.multigres.names import ShardPath

S3 = {"bucket": "backups", "region": "r", "keyPrefix": "shop"}
PATH = ShardPath("shop", "postgres", "default", "0-inf")
CLUSTER: dict[str, Any] = {
    "apiVersion": "multigres.com/v1alpha1",
    "kind": "MultigresCluster",
    "metadata": {"name": "shop", "namespace": "saas", "uid": "old", "labels": {"team": "a"}},
    "spec": {"cells": [{"zone": "z1"}], "backup": {"type": "s3", "s3": S3}},
}


def condition(reason: str, message: str) -> dict[str, Any]:
    return {"conditions": [{"type": "Restored", "reason": reason, "message": message}], "message": "starting"}


RESTORED = condition("Restored", "restored with all WAL")


class ScriptedClient:
    """Objects by kind; each `get` of the cluster takes the next status once it was created."""

    def __init__(self, *statuses: dict[str, Any], **objects: list[Any]) -> None:
        self.statuses, self.objects = list(statuses), objects
        self.created: list[tuple[Any, bool]] = []
        self.secrets = [names.password_secret("shop")]
        self.exists = False

    async def list(self, kind: Any, query: Any, view: Any = dict) -> Any:
        found = self.objects.get(kind.kind, [])
        return SimpleNamespace(items=[msgspec.convert(each, view) for each in found])

    async def get(self, kind: Any, key: Any) -> Any:
        if kind.kind == "Secret":
            if key.name in self.secrets:
                return {}
            raise NotFound(404, "NotFound", "there is no such Secret")
        if not self.created and not self.exists:
            raise NotFound(404, "NotFound", "there is no such cluster")
        if not self.statuses:
            raise KeyboardInterrupt
        return {"status": self.statuses.pop(0)}

    async def create(self, manifest: Any, *, manager: str, dry_run: bool) -> bytes:
        self.created.append((manifest, dry_run))
        return b""


Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.setattr(restore, "POLL_SECONDS", 0.0)

    def invoke(client: ScriptedClient, *options: str, manifests: list[Any] | None = None) -> Result:
        monkeypatch.setattr(restore, "with_client", lambda source, work: asyncio.run(work(client)))
        monkeypatch.setattr(restore, "selected_namespace", lambda options: (None, "default"))
        file = tmp_path / "shop.yaml"
        file.write_text(yaml.safe_dump_all(manifests or [CLUSTER]))
        return CliRunner().invoke(steward, ["restore", "-f", str(file), *options])

    return invoke


def test_cluster_is_created_with_its_repository_and_awaited(run: Run) -> None:
    client = ScriptedClient(condition("Restoring", "m"), RESTORED)
    result = run(client)
    assert (result.exit_code, result.output.splitlines()[-1]) == (0, "shop: restored with all WAL")
    [(manifest, dry_run)] = client.created
    assert (manifest["spec"]["restore"], dry_run) == ({"from": {"s3": S3}}, False)
    assert manifest["metadata"] == {"name": "shop", "namespace": "saas", "labels": {"team": "a"}}


def test_dry_run_says_what_would_happen_and_creates_nothing(run: Run) -> None:
    client = ScriptedClient()
    result = run(client, "--dry-run", "-n", "other")
    assert result.exit_code == 0
    assert (
        "shard postgres/default/0-inf: 3 servers restore the newest backup of s3://backups/shop"
        in result.output
    )
    assert "would be created in namespace other" in result.output
    assert [dry_run for _, dry_run in client.created] == [True]


def test_other_objects_of_the_file_are_named(run: Run) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s3-credentials"}}
    result = run(ScriptedClient(), "--dry-run", manifests=[secret, CLUSTER])
    assert "not created, apply it yourself: Secret s3-credentials" in result.output


def test_existing_cluster_is_not_restored_in_place(run: Run) -> None:
    client = ScriptedClient({})
    client.exists = True
    result = run(client)
    assert (result.exit_code, client.created) == (1, [])
    assert "data cannot be restored into a cluster that exists" in result.output


def test_missing_password_is_reported_before_anything_is_created(run: Run) -> None:
    client = ScriptedClient()
    client.secrets = []
    result = run(client)
    assert (result.exit_code, client.created) == (1, [])
    assert "Secret shop-postgres-password does not exist" in result.output


def test_repository_of_another_cluster_is_refused(run: Run) -> None:
    other = {"metadata": {"name": "shop", "namespace": "old"}, "spec": CLUSTER["spec"]}
    result = run(ScriptedClient(MultigresCluster=[other]))
    assert "MultigresCluster old/shop uses the repository s3://backups/shop" in result.output


def test_retained_volumes_are_refused(run: Run) -> None:
    claim = f"pgdata-{names.pool(PATH, 'default', 'z1')}-0"
    result = run(ScriptedClient(PersistentVolumeClaim=[{"metadata": {"name": claim, "namespace": "saas"}}]))
    assert f"volume claim {claim} exists" in result.output


def test_empty_repository_is_a_failure(run: Run) -> None:
    result = run(ScriptedClient(condition("RepositoryEmpty", "the shard began without data")))
    assert (result.exit_code, "the shard began without data" in result.output) == (1, True)


def test_interrupt_leaves_the_restore_running(run: Run) -> None:
    result = run(ScriptedClient(condition("Restoring", "m")))
    assert (result.exit_code, "The restore goes on" in result.output) == (130, True)


def test_file_without_a_cluster_is_an_error(run: Run) -> None:
    result = run(ScriptedClient(), manifests=[{"kind": "Secret"}])
    assert "give the manifest of one MultigresCluster; there are 0" in result.output


@pytest.mark.parametrize(
    ("spec", "backup", "expected"),
    [
        ({}, "", {"filesystem": {}}),
        ({}, "nightly", {"backup": "nightly"}),
        ({"backup": {"type": "s3", "s3": S3}}, "nightly", {"backup": "nightly"}),
        ({"restore": {"from": {"backup": "written"}}}, "", {"backup": "written"}),
    ],
)
def test_source_of_the_restore(spec: dict[str, Any], backup: str, expected: dict[str, Any]) -> None:
    made = restored_manifest({**CLUSTER, "spec": spec}, Namespaces("", "default"), backup)
    assert made["spec"]["restore"]["from"] == expected


def test_namespace_of_the_command_line_wins() -> None:
    places = [Namespaces("named", "context"), Namespaces("", "context")]
    assert [restored_manifest(CLUSTER, each, "")["metadata"]["namespace"] for each in places] == [
        "named",
        "saas",
    ]
