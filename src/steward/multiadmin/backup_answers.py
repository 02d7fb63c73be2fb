"""Decodes what multiadmin answers about backups: jobs, backups of a repository, results of verify and expire. Pure."""

import re
from typing import Annotated, Literal

from msgspec import Meta

from steward.multiadmin.answers import Duration, Message, Name, Position, decode_message, printable_sentence

Type = Literal["full", "differential", "incremental"]

COMPLETE = "BACKUP_STATUS_COMPLETE"
JOB_COMPLETED, JOB_FAILED = "JOB_STATUS_COMPLETED", "JOB_STATUS_FAILED"
PGBACKREST_TYPES: dict[str, Type] = {"full": "full", "diff": "differential", "incr": "incremental"}
"""A request names the type in full; a list has pgBackRest's abbreviation."""
Label = Annotated[str, Meta(pattern="^[0-9]{8}-[0-9]{6}F(_[0-9]{8}-[0-9]{6}[DI])?$")]
"""The id of a backup, such as 20260821-100000F or 20260821-100000F_20260822-100000I."""
_JobId = Annotated[str, Meta(pattern=r"^[\x21-\x7e]{1,512}$")]
_UnsignedNumber = Annotated[str, Meta(pattern="^[0-9]{1,20}$")]
Timestamp = Annotated[
    str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?Z$")
]
_ERROR_LINE = re.compile(r"ERROR: \[[0-9]+\]: [^\n]*")


class RepositoryBackup(Message):
    """One backup in the repository of a shard."""

    backup_id: Label
    table_group: Name = ""
    shard: Name = ""
    type: Name = ""
    status: Name = ""
    backup_size_bytes: _UnsignedNumber | None = None
    multipooler_service_id: Name = ""
    start_lsn: Position = ""
    stop_lsn: Position = ""
    start_timestamp: Timestamp | None = None
    stop_timestamp: Timestamp | None = None
    job_id: Annotated[str, Meta(max_length=512)] = ""

    @property
    def is_complete(self) -> bool:
        return self.status == COMPLETE

    @property
    def made_at(self) -> str:
        """The time in its id, which is later than that of every earlier backup: pgBackRest sees to that."""
        return self.backup_id.rsplit("_", 1)[-1][:15]


class _Backups(Message):
    backups: tuple[RepositoryBackup, ...] | None = None


class _Started(Message):
    job_id: _JobId


class BackupJob(Message):
    """A backup that was asked for. `error_message` may have any length: `error` is the part to show."""

    status: Name
    backup_id: Label | Literal[""] = ""
    error_message: str = ""

    @property
    def error(self) -> str:
        return backup_error(self.error_message)


class Verification(Message):
    duration: Duration | None = None


class _Expired(Message):
    expired_backup_ids: tuple[Label, ...] | None = None


def backup_error(text: str) -> str:
    """The error line of pgBackRest if there is one: what comes before it names the programs that passed it on."""
    found = _ERROR_LINE.search(text)
    return printable_sentence(found.group() if found else text)


def decode_job_id(answer: bytes | bytearray) -> str:
    return decode_message(answer, _Started).job_id


def decode_job(answer: bytes | bytearray) -> BackupJob:
    return decode_message(answer, BackupJob)


def decode_backups(answer: bytes | bytearray) -> tuple[RepositoryBackup, ...]:
    return decode_message(answer, _Backups).backups or ()


def decode_verification(answer: bytes | bytearray) -> Verification:
    return decode_message(answer, Verification)


def decode_expired(answer: bytes | bytearray) -> tuple[str, ...]:
    return decode_message(answer, _Expired).expired_backup_ids or ()
