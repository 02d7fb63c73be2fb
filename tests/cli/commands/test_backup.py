"""`steward backup` and `steward backups`, with a client that answers from a list."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from steward.cli.commands import backup, backups
from steward.cli.commands.backup import Request, backup_manifests, read_shards
from steward.cli.commands.backups import backup_table
from steward.cli.main import steward
from steward.multigres.names import ShardPath

NOW = datetime(2026, 8, 21, 12, tzinfo=UTC)
PATH = ShardPath("shop", "postgres", "default", "0-inf")


def made(name: str, phase: str, **status: Any) -> dict[str, Any]:
    return {
        "metadata": {
            "name": name,
            "namespace": "saas",
            "creationTimestamp": f"2026-08-21T12:00:0{name[-1]}Z",
        },
        "spec": {"cluster": "shop", "type": "incremental"},
        "status": {"phase": phase, **status},
    }


class ScriptedClient:
    """Shards and MultigresBackups; each `get` takes the next status."""

    def __init__(self, statuses: list[dict[str, str]] | None = None) -> None:
        self.statuses = statuses or []
        self.created: list[Any] = []
        self.items: list[Any] = [
            {"spec": {"databaseName": "postgres", "tableGroupName": "default", "shardName": "0-inf"}}
        ]

    async def list(self, kind: Any, query: Any) -> Any:
        return SimpleNamespace(items=self.items)

    async def create(self, manifest: Any, **options: Any) -> bytes:
        self.created.append(manifest)
        return b""

    async def get(self, kind: Any, key: Any) -> Any:
        if not self.statuses:
            raise KeyboardInterrupt
        return {"status": self.statuses.pop(0)}


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.setattr(backup, "POLL_SECONDS", 0.0)

    def run(client: ScriptedClient, *arguments: str) -> Result:
        for module in (backup, backups):
            monkeypatch.setattr(module, "with_client", lambda source, work: asyncio.run(work(client)))
        monkeypatch.setattr(backup, "selected_namespace", lambda options: (None, "saas"))
        monkeypatch.setattr(backups, "selected_scope", lambda options: (None, "saas"))
        return CliRunner().invoke(steward, list(arguments))

    return run


def test_manifest_names_shard_and_type() -> None:
    [manifest] = backup_manifests(Request("shop", "saas", "full", ""), [PATH], NOW)
    assert manifest["metadata"]["name"].startswith("shop-postgres-default-0-inf-full-20260821120000-")
    assert manifest["spec"] == {
        "cluster": "shop",
        "database": "postgres",
        "tableGroup": "default",
        "shard": "0-inf",
        "type": "full",
    }


def test_progress_is_shown_until_the_backup_is_complete(run: Callable[..., Result]) -> None:
    client = ScriptedClient(
        [
            {"phase": "Running", "message": "the backup is being made"},
            {"phase": "Running", "message": "the backup is being made"},
            {"phase": "Completed", "message": "backup X is in the repository"},
        ]
    )
    done = run(client, "backup", "shop", "--type", "incremental")
    assert done.exit_code == 0
    assert [line.split(": ", 1)[1] for line in done.output.splitlines()] == [
        "Running: the backup is being made",
        "Completed: backup X is in the repository",
    ]
    assert client.created[0]["spec"]["type"] == "incremental"


def test_failed_backup_is_an_error(run: Callable[..., Result]) -> None:
    client = ScriptedClient([{"phase": "Failed", "message": "the backup failed: no space"}])
    done = run(client, "backup", "shop")
    assert done.exit_code == 1
    assert "the backup failed: no space" in done.output
    assert "1 of 1 backups failed" in done.output


def test_interrupt_leaves_the_backup_running_and_says_so(run: Callable[..., Result]) -> None:
    done = run(ScriptedClient(), "backup", "shop")
    assert done.exit_code == 130
    assert "The backups go on: `steward backups shop -n saas` shows them." in done.output


def test_dry_run_creates_nothing(run: Callable[..., Result]) -> None:
    client = ScriptedClient()
    done = run(client, "backup", "shop", "--dry-run")
    assert done.output == "would make a full backup of shard postgres/default/0-inf of saas/shop\n"
    assert client.created == []


@pytest.mark.parametrize(
    ("items", "shard", "message"),
    [
        ([], "", "has no shards; `steward status -n saas` shows what there is"),
        (
            None,
            "postgres/default/80-inf",
            "has no shard postgres/default/80-inf; it has postgres/default/0-inf",
        ),
    ],
)
async def test_missing_shard_is_named(items: list[Any] | None, shard: str, message: str) -> None:
    client: Any = ScriptedClient()
    client.items = client.items if items is None else items
    with pytest.raises(click.ClickException, match=message):
        await read_shards(client, Request("shop", "saas", "full", shard))


def test_backups_are_listed_by_age(run: Callable[..., Result]) -> None:
    client = ScriptedClient()
    finished = {
        "backupId": "20260821-120000F",
        "stoppedAt": "2026-08-21T12:00:02Z",
        "type": "full",
        "sizeBytes": 31847562,
    }
    client.items = [made("b2", "Failed", message="no space"), made("b1", "Completed", **finished)]
    done = run(client, "backups", "shop", "-o", "wide")
    rows = [line.split() for line in done.output.splitlines()]
    assert rows[1][:9] == [
        "saas",
        "b1",
        "shop",
        "Completed",
        "full",
        "20260821-120000F",
        "2026-08-21T12:00:02Z",
        "30",
        "MiB",
    ]
    assert rows[2] == ["saas", "b2", "shop", "Failed", "incremental", "-", "-", "-", "no", "space"]


@pytest.mark.parametrize(
    ("size", "text"), [(None, "-"), (1023, "1023 B"), (5 << 30, "5 GiB"), (3 << 40, "3.0 TiB")]
)
def test_size_of_the_data_is_readable(size: int | None, text: str) -> None:
    heads, [row] = backup_table([made("b1", "Completed", sizeBytes=size)], "")
    assert dict(zip(heads, row, strict=True))["DATA"] == text


def test_no_backups_names_the_verb_that_makes_one(run: Callable[..., Result]) -> None:
    client = ScriptedClient()
    client.items = [made("b1", "Failed")]
    assert "`steward backup other -n saas` makes one" in run(client, "backups", "other").output
