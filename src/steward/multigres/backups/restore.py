"""Whether a new cluster can be restored from a repository, and what came of it. Pure.

The data plane has no call for a restore: a server with an empty volume restores the newest backup of its repository,
and archives into the same one. The data names its servers and keeps its passwords, so cluster, cells and pools must
have the names that they had. Nothing is created while one of these rules is broken: a server that finds no backup makes
an empty database.
"""

from collections.abc import Mapping
from typing import NamedTuple

from steward.kube.objects.conditions import FALSE, TRUE
from steward.kube.objects.timestamps import from_timestamp
from steward.multigres import reasons
from steward.multigres.api.multigres_backup import MultigresBackupStatus
from steward.multigres.api.restore import RestoreSource
from steward.multigres.api.unset import or_default
from steward.multigres.backups.health import BackupHealth
from steward.multigres.backups.progress import COMPLETED, PENDING
from steward.multigres.backups.queue import backup_path
from steward.multigres.backups.repository import RepositoryListing, made_at, newest_complete
from steward.multigres.names import ShardPath
from steward.multigres.views import MultigresBackupView


class RestoredShard(NamedTuple):
    """A shard of the new cluster, with the names that its servers and claims will have."""

    path: ShardPath
    repository: str
    servers: frozenset[str]
    server_claims: frozenset[str]
    repository_claims: tuple[frozenset[str], ...] = ()
    """For a repository on volumes: one claim of each of these sets must exist."""


class RestoreFacts(NamedTuple):
    source: RestoreSource
    shards: tuple[RestoredShard, ...]
    backups: tuple[MultigresBackupView, ...]
    """All MultigresBackups of the namespace."""
    claims: frozenset[str]
    """All volume claims of the namespace that the operator manages."""
    users: Mapping[str, str]
    """Other clusters that use a repository of this one, by repository."""
    password_secret: str
    """The Secret that is missing; "" if it exists."""


def restore_problem(facts: RestoreFacts) -> str:
    """Why nothing is created yet, and what to do; "" if the restore can begin."""
    problems = (
        _used_repository(facts),
        _missing_password(facts),
        _named_backup_problem(facts),
        _existing_volumes(facts),
        _missing_repository(facts),
    )
    return next((problem for problem in problems if problem), "")


def _used_repository(facts: RestoreFacts) -> str:
    for repository, cluster in sorted(facts.users.items()):
        return (
            f"MultigresCluster {cluster} uses the repository {repository}, and two clusters must never archive into"
            " one; delete the other cluster first"
        )
    return ""


def _missing_password(facts: RestoreFacts) -> str:
    if not facts.password_secret:
        return ""
    return (
        f"Secret {facts.password_secret} does not exist: restored servers keep the superuser password of the lost"
        " cluster; create the Secret with that password"
    )


def _named_backup_problem(facts: RestoreFacts) -> str:
    name = or_default(facts.source.backup, "")
    if not name:
        return ""
    named = next((each for each in facts.backups if each.metadata.name == name), None)
    if named is None:
        return f"MultigresBackup {name} does not exist in this namespace; name the repository instead"
    return _shard_problem(named, facts) or _newest_problem(named, facts)


def _shard_problem(named: MultigresBackupView, facts: RestoreFacts) -> str:
    name, path, status = named.metadata.name, backup_path(named), named.status
    shard = next((each for each in facts.shards if each.path == path), None)
    if shard is None:
        where = f"{path.database}/{path.table_group}/{path.shard} of cluster {path.cluster}"
        return (
            f"MultigresBackup {name} is of shard {where}, which this cluster does not have: data can only come back"
            " under the names that it had"
        )
    if or_default(status.phase, PENDING) != COMPLETED:
        return f"MultigresBackup {name} is {or_default(status.phase, PENDING)}, not Completed"
    repository = or_default(status.repository, shard.repository)
    if repository != shard.repository:
        return (
            f"MultigresBackup {name} is in the repository {repository}, and spec.backup names {shard.repository}:"
            " servers restore from the repository that they archive into; give spec.backup the same"
        )
    if (server := or_default(status.server, "")) and server not in shard.servers:
        return (
            f"MultigresBackup {name} was taken from server {server}, which this cluster does not have: use the same"
            " cells and pools"
        )
    return ""


def _newest_problem(named: MultigresBackupView, facts: RestoreFacts) -> str:
    same = [each for each in facts.backups if backup_path(each) == backup_path(named)]
    newest = max(same, key=lambda each: made_at(_backup_id(each.status)))
    if made_at(_backup_id(newest.status)) <= made_at(_backup_id(named.status)):
        return ""
    return (
        f"MultigresBackup {newest.metadata.name} is newer than {named.metadata.name}: a server always restores the"
        " newest backup of its repository and replays all WAL; name the newest one"
    )


def _backup_id(status: MultigresBackupStatus) -> str:
    return or_default(status.backup_id, "")


def _existing_volumes(facts: RestoreFacts) -> str:
    kept = sorted(claim for shard in facts.shards for claim in shard.server_claims & facts.claims)
    if not kept:
        return ""
    return (
        f"volume claim {kept[0]} exists ({len(kept)} in all), and its server would start from it instead of a backup;"
        " leave restore out to start from the volumes, or delete these claims"
    )


def _missing_repository(facts: RestoreFacts) -> str:
    needed = (names for shard in facts.shards for names in shard.repository_claims)
    absent = next((names for names in needed if not names & facts.claims), None)
    if absent is None:
        return ""
    claims = " or ".join(sorted(absent))
    return (
        f"volume claim {claims} of the repository does not exist in this namespace, so there is nothing to restore;"
        " a repository on volumes cannot be used from another namespace"
    )


def restored_backup(listing: RepositoryListing, created_at: float) -> str:
    """The newest backup that the repository had when the shard was created; "" if it had none."""
    older = [
        each
        for each in listing.complete
        if each.stop_timestamp and from_timestamp(each.stop_timestamp) < created_at
    ]
    newest = newest_complete(older)
    return "" if newest is None else newest.backup_id


def restore_outcome(shards: Mapping[str, str | None]) -> BackupHealth:
    """Of a cluster: what each of its shards was restored from, None while that is unknown."""
    empty = sorted(name for name, found in shards.items() if found == "")
    if empty:
        message = f"the repository of shard {empty[0]} had no backup: the shard began without data"
        return BackupHealth(FALSE, reasons.REPOSITORY_EMPTY, message)
    waiting = sorted(name for name, found in shards.items() if found is None)
    if waiting:
        return BackupHealth(FALSE, reasons.RESTORING, f"shard {waiting[0]} is being restored")
    texts = [f"shard {name} from {shards[name]}" for name in sorted(shards)]
    return BackupHealth(
        TRUE, reasons.RESTORED, "restored with all WAL that was archived: " + ", ".join(texts[:20])
    )
