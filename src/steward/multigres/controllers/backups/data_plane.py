"""Questions about the backups of a shard to its multiadmin: each answer is a value, with the error if there is one."""

from steward.multiadmin.backup_answers import backup_error
from steward.multiadmin.backups import BackupShard, ShardBackups, Source
from steward.multiadmin.client import MultiadminClient
from steward.multiadmin.errors import INTERNAL, NOT_FOUND, MultiadminError, RequestRejected
from steward.multigres.api.multigres_backup import BackupType
from steward.multigres.backups.progress import JobAnswer, StartAnswer
from steward.multigres.backups.repository import RepositoryListing
from steward.multigres.controllers.common.servers import multiadmin_address
from steward.multigres.names import ShardPath


def backups_of(client: MultiadminClient, namespace: str, path: ShardPath) -> ShardBackups:
    multiadmin = client.at(multiadmin_address(namespace, path.cluster))
    return ShardBackups(multiadmin, BackupShard(path.database, path.table_group, path.shard))


async def list_repository(backups: ShardBackups) -> RepositoryListing:
    try:
        return RepositoryListing(await backups.list())
    except MultiadminError as error:
        is_unreachable = isinstance(error, RequestRejected) and error.code == INTERNAL
        return RepositoryListing(error=describe_error(error), is_unreachable=is_unreachable)


async def start_backup(backups: ShardBackups, backup_type: BackupType, source: Source) -> StartAnswer:
    try:
        return StartAnswer(await backups.start(backup_type, source))
    except RequestRejected as error:
        # Without a code it is not multiadmin that answers, and whether the request reached it is unknown.
        return StartAnswer(error=describe_error(error), is_refused=error.code != 0)
    except MultiadminError as error:
        return StartAnswer(error=describe_error(error))


async def read_job(backups: ShardBackups, job: str) -> JobAnswer:
    try:
        return JobAnswer(await backups.job(job))
    except RequestRejected as error:
        return JobAnswer() if error.code == NOT_FOUND else JobAnswer(error=describe_error(error))
    except MultiadminError as error:
        return JobAnswer(error=describe_error(error))


def describe_error(error: MultiadminError) -> str:
    if isinstance(error, RequestRejected) and error.sentence:
        return backup_error(error.sentence)
    return str(error)
