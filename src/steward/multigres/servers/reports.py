"""What the data plane reports about the servers of a shard.

There are two sources. The topology server has a record of every pooler that has ever registered; multiadmin asks a
running pooler for the state of its Postgres. A record proves that a pooler has started, only a report proves that its
Postgres accepts connections or streams.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from steward.multigres.topology.store_records import PoolerRecord

STARTING_POSTGRES = "starting Postgres"
RESTORING = "restoring a backup"
FIRST_BACKUP = "creating the first backup"
"""Long-running actions of a pooler."""


class ServerId(NamedTuple):
    """A server as the data plane names it. The name is that of its pod."""

    cell: str
    name: str


class PostgresRole(StrEnum):
    """What a Postgres is right now, which may differ from the role in its topology record."""

    PRIMARY = "primary"
    STANDBY = "standby"
    STARTING = "starting"
    PROMOTING = "promoting"
    UNKNOWN = "unknown"


class ShardRule(NamedTuple):
    """The rule that the servers of a shard have agreed on: its leader, its members, and which of them must confirm a
    write. `required` counts servers or, if `counts_cells`, cells; 0 if the data plane does not say."""

    leader: ServerId | None
    cohort: frozenset[ServerId]
    required: int = 0
    counts_cells: bool = False
    number: tuple[int, int] = (0, 0)
    """Term and subterm: of two rules the one with the greater number is newer."""


class ServerReport(NamedTuple):
    """The answer of one pooler about its Postgres."""

    role: PostgresRole
    is_initialized: bool = True
    """Whether it has a data directory."""
    is_running: bool = False
    """Whether the process exists."""
    is_ready: bool = False
    """Whether it accepts connections."""
    is_streaming: bool = False
    """Whether a standby receives the changes of its primary."""
    lag_seconds: float | None = None
    """How far a standby is behind its primary, if its pooler says so."""
    position: int | None = None
    """How much WAL a primary has written, or a standby has replayed, in bytes."""
    lag_bytes: int | None = None
    """How much WAL a standby has yet to replay, as `servers/lag.py` derives it."""
    action: str = ""
    """A long-running action such as restoring a backup, in words; "" if none is in progress."""
    followers: frozenset[ServerId] = frozenset()
    """The standbys that are connected to a primary."""
    required_followers: int = 0
    """How many standbys must confirm a write on a primary."""
    rule: ShardRule | None = None


class ShardObservation(NamedTuple):
    """One look at all servers of a shard; `at` is the monotonic time at which the older of its two sources was read.

    All keys are names of pods. `records` is None if the topology server did not answer. A pod without a report either
    has no record or its pooler did not answer: `errors` says why. `unreachable` says why multiadmin as a whole did not
    answer, "" if it did.
    """

    at: float
    records: Mapping[str, PoolerRecord] | None
    reports: Mapping[str, ServerReport]
    errors: Mapping[str, str]
    unreachable: str = ""
