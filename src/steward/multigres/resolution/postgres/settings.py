"""Postgres settings that users write in a spec: which are allowed, how Postgres reads them, and which need a restart.
Pure."""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from types import MappingProxyType
from typing import Final

from msgspec import UNSET

from steward.multigres.api.postgres import PostgresOptions
from steward.multigres.api.scalars import Unset
from steward.multigres.api.unset import or_default
from steward.multigres.resolution.postgres.conf_format import format_settings, parse_settings
from steward.postgres.setting_values import KnownSetting

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
# Settings whose context is `postmaster` in PostgreSQL 15 to 18, without those of MANAGED. Servers are asked; the list
# is for clusters without a primary, and for what users see before they apply a change.
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


def inline_settings(options: PostgresOptions | Unset) -> str:
    """The settings in the format of postgresql.conf; "" if there are none."""
    return format_settings({} if options is UNSET else or_default(options.settings, {}))


def setting_problems(options: PostgresOptions | Unset) -> Iterator[tuple[str, str]]:
    """Names of settings that cannot be set, each with the reason."""
    for name, value in ({} if options is UNSET else or_default(options.settings, {})).items():
        if name in MANAGED:
            yield name, "Multigres sets it itself; take it away"
        elif not str(value).isprintable():
            yield name, "a value is one line of printable characters"


def setting_names(text: str) -> list[str]:
    """The settings of a postgresql.conf, without those of extensions, which any server accepts."""
    return sorted(name for name in parse_settings(text) if "." not in name and not _is_include(name))


def _is_include(name: str) -> bool:
    return name.startswith("include")


def changed_settings(before: str, after: str) -> list[str]:
    """The settings whose value differs; comments, order and notation make no difference."""
    old, new = parse_settings(before), parse_settings(after)
    return sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def needs_restart(name: str, known: Mapping[str, KnownSetting]) -> bool:
    """Whether a change of the setting needs a restart: as the server says in `known`, else by a list. A setting of an
    extension that the server has not loaded may need one, and so may a file that is included."""
    if name in known:
        return known[name].needs_restart or name in MANAGED
    return name in NEEDS_RESTART or name in MANAGED or "." in name or _is_include(name)


NOT_ASKED: Final[Mapping[str, KnownSetting]] = MappingProxyType({})


def restart_text(text: str, known: Mapping[str, KnownSetting] = NOT_ASKED) -> str:
    """The settings of a postgresql.conf that need a restart; "" if none does."""
    found = {name: value for name, value in parse_settings(text).items() if needs_restart(name, known)}
    return format_settings(found)


def restart_digest(text: str | None, known: Mapping[str, KnownSetting] = NOT_ASKED) -> str:
    """Of the settings that need a restart; "" if there are none, so that the first setting which needs none restarts
    nothing."""
    restarting = restart_text(text or "", known)
    return sha256(restarting.encode()).hexdigest() if restarting else ""
