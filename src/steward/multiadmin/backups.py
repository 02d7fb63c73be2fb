"""The backups of one shard: start one, follow its job, list, verify and expire them.

multiadmin chooses a standby, or the primary if it is asked to, and runs pgBackRest there. Facts of its interface that
callers depend on:

- A second request for a backup aborts one that is running: the newest takes the lease of the shard.
- A job is known until multiadmin restarts. After that, only the job of a finished backup is found; the one of a running
  backup is NOT_FOUND.
- The list has the oldest backup first, and `limit` would cut off the newest: it is not used.
"""

from typing import Literal, NamedTuple
from urllib.parse import urlencode

import msgspec

from steward.multiadmin.backup_answers import (
    BackupJob,
    RepositoryBackup,
    Type,
    Verification,
    decode_backups,
    decode_expired,
    decode_job,
    decode_job_id,
    decode_verification,
)
from steward.multiadmin.client import Multiadmin, Request, path_part

START_SECONDS = 15.0
JOB_SECONDS = 45.0
LIST_SECONDS = 45.0
"""pgBackRest has 30 s to read a repository."""
VERIFY_SECONDS = 3700.0
"""A pooler has one hour to read every file of a repository."""
EXPIRE_SECONDS = 630.0
LIST_BYTES = 1 << 20
"""The longest list. A backup has about 600 bytes: 1,700 backups, or a backup every hour for ten weeks."""
_BACKUPS = "/api/v1/backups"
Source = Literal["standby", "primary"]


class BackupShard(NamedTuple):
    database: str
    table_group: str
    shard: str


class ShardBackups:
    def __init__(self, multiadmin: Multiadmin, shard: BackupShard) -> None:
        self._multiadmin = multiadmin
        self._shard = shard

    async def start(self, backup_type: Type, source: Source = "standby") -> str:
        """The id of the job. Raises RequestRejected with FAILED_PRECONDITION if no such server serves.

        Not sent twice after any failure: the second request would abort the backup of the first."""
        force = {"force_primary": True} if source == "primary" else {}
        body = msgspec.json.encode({**self._shard._asdict(), "type": backup_type, **force})
        return await self._multiadmin.call(Request("POST", _BACKUPS, START_SECONDS, body), decode_job_id)

    async def job(self, job: str) -> BackupJob:
        """Raises RequestRejected with NOT_FOUND if multiadmin has restarted and no finished backup has this job."""
        path = f"/api/v1/jobs/{path_part(job)}"
        request = Request("GET", path, JOB_SECONDS, query=urlencode(self._shard._asdict()))
        return await self._multiadmin.call_over_dead_connection(request, decode_job)

    async def list(self) -> tuple[RepositoryBackup, ...]:
        """The backups of this shard, the oldest first. Raises RequestRejected with NOT_FOUND if no standby serves."""
        request = Request(
            "GET", _BACKUPS, LIST_SECONDS, query=urlencode(self._shard._asdict()), answer_bytes=LIST_BYTES
        )
        found = await self._multiadmin.call_over_dead_connection(request, decode_backups)
        return tuple(each for each in found if self._is_of_shard(each))

    async def verify(self) -> Verification:
        """Returns when every file was read. Raises RequestRejected with INTERNAL if one is missing or damaged."""
        request = self._post("verify", VERIFY_SECONDS)
        return await self._multiadmin.call_over_dead_connection(request, decode_verification)

    async def expire(self, **retention: str) -> tuple[str, ...]:
        """Deletes what pgBackRest's options, such as repo1-retention-full, no longer keep; the ids of those backups."""
        overrides = {name.replace("_", "-"): value for name, value in retention.items()}
        request = self._post("expire", EXPIRE_SECONDS, {"overrides": overrides})
        return await self._multiadmin.call_over_dead_connection(request, decode_expired)

    def _post(self, action: str, seconds: float, fields: dict[str, dict[str, str]] | None = None) -> Request:
        body = msgspec.json.encode({**self._shard._asdict(), **(fields or {})})
        return Request("POST", f"{_BACKUPS}/{action}", seconds, body)

    def _is_of_shard(self, backup: RepositoryBackup) -> bool:
        """multiadmin asks any pooler of the table group."""
        return (backup.table_group, backup.shard) == self._shard[1:]
