"""Postgres settings that users write in a spec: which are allowed, how Postgres reads them, and which need a restart.
Pure."""

import re
from collections.abc import Iterator
from typing import Final

from msgspec import UNSET

from steward.multigres.api.postgres import PostgresOptions
from steward.multigres.api.scalars import Unset
from steward.multigres.api.unset import or_default

MANAGED: Final = frozenset(
    {
        "archive_command",
        "archive_library",
        "archive_mode",
        "cluster_name",
        "config_file",
        "data_directory",
        "external_pid_file",
        "hba_file",
        "hot_standby",
        "ident_file",
        "listen_addresses",
        "password_encryption",
        "port",
        "primary_conninfo",
        "primary_slot_name",
        "recovery_target_action",
        "recovery_target_timeline",
        "restore_command",
        "synchronous_commit",
        "synchronous_standby_names",
        "unix_socket_directories",
        "wal_level",
    }
)
"""Settings that Multigres sets itself, or that its replication, backups or logins depend on."""
# Settings whose context is `postmaster` in PostgreSQL 15 to 18, without those of MANAGED.
NEEDS_RESTART: Final = frozenset(
    {
        "autovacuum_freeze_max_age",
        "autovacuum_max_workers",
        "autovacuum_multixact_freeze_max_age",
        "autovacuum_worker_slots",
        "bonjour",
        "bonjour_name",
        "commit_timestamp_buffers",
        "debug_io_direct",
        "dynamic_shared_memory_type",
        "event_source",
        "file_extend_method",
        "huge_page_size",
        "huge_pages",
        "ignore_invalid_pages",
        "io_max_combine_limit",
        "io_max_concurrency",
        "io_method",
        "jit_provider",
        "logging_collector",
        "max_active_replication_origins",
        "max_connections",
        "max_files_per_process",
        "max_locks_per_transaction",
        "max_logical_replication_workers",
        "max_notify_queue_pages",
        "max_pred_locks_per_transaction",
        "max_prepared_transactions",
        "max_replication_slots",
        "max_wal_senders",
        "max_worker_processes",
        "min_dynamic_shared_memory",
        "multixact_member_buffers",
        "multixact_offset_buffers",
        "notify_buffers",
        "old_snapshot_threshold",
        "recovery_target",
        "recovery_target_inclusive",
        "recovery_target_lsn",
        "recovery_target_name",
        "recovery_target_time",
        "recovery_target_xid",
        "reserved_connections",
        "serializable_buffers",
        "shared_buffers",
        "shared_memory_type",
        "shared_preload_libraries",
        "subtransaction_buffers",
        "summarize_wal",
        "superuser_reserved_connections",
        "track_activity_query_size",
        "track_commit_timestamp",
        "transaction_buffers",
        "unix_socket_group",
        "unix_socket_permissions",
        "wal_buffers",
        "wal_decode_buffer_size",
        "wal_log_hints",
    }
)
# `name = value`, where the equals sign is optional.
_LINE: Final = re.compile(r"\s*([A-Za-z_][\w.]*)\s*(?:=\s*|\s)\s*(\S.*)")


def inline_settings(options: PostgresOptions | Unset) -> str:
    """The settings in the format of postgresql.conf; "" if there are none."""
    settings = {} if options is UNSET else or_default(options.settings, {})
    return "".join(f"{name} = {_quoted(str(value))}\n" for name, value in sorted(settings.items()))


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


def setting_problems(options: PostgresOptions | Unset) -> Iterator[tuple[str, str]]:
    """Names of settings that cannot be set, each with the reason."""
    for name, value in ({} if options is UNSET else or_default(options.settings, {})).items():
        if name in MANAGED:
            yield name, "Multigres sets it itself; take it away"
        elif not str(value).isprintable():
            yield name, "a value is one line of printable characters"


def setting_names(text: str) -> list[str]:
    """The settings of a postgresql.conf, without those of extensions, which any server accepts."""
    found = {match[1].lower() for line in text.splitlines() if (match := _LINE.match(line))}
    return sorted(name for name in found if "." not in name and not name.startswith("include"))


def restart_text(text: str) -> str:
    """The settings of a postgresql.conf that need a restart, the last line of each: comments, order and all other
    settings make no difference. Settings of extensions may need one, and so may files that are included."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        name = match[1].lower()
        if name in NEEDS_RESTART or name in MANAGED or "." in name or name.startswith("include"):
            found[name] = match[2].split("#")[0].strip()
    return "\n".join(f"{name} = {value}" for name, value in sorted(found.items()))
