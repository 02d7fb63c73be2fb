"""Decodes answers of multiadmin's REST interface. Pure.

multiadmin writes protobuf messages as JSON. An unset message is null or absent, an unset number or text is absent or
empty, a 64-bit number is a string. Every field that is read has a type; what does not fit is one error without any byte
of the answer.
"""

import re
from typing import Annotated, NamedTuple, TypeVar

import msgspec
from msgspec import Meta, Struct

from steward.multiadmin.errors import MalformedAnswer

T = TypeVar("T")

SENTENCE_CHARACTERS = 300
Name = Annotated[str, Meta(max_length=253)]
Number = Annotated[str, Meta(pattern="^-?[0-9]{1,19}$")]
Duration = Annotated[str, Meta(pattern=r"^-?[0-9]{1,12}(\.[0-9]{1,9})?s$")]
Position = Annotated[str, Meta(pattern="^([0-9A-Fa-f]{1,8}/[0-9A-Fa-f]{1,8})?$")]
_UNPRINTABLE = re.compile(r"[^\x20-\x7e]+")


class Message(Struct, rename="camel", gc=False):
    """Base of the messages of multiadmin."""


class PoolerId(Message):
    cell: Name = ""
    name: Name = ""


class SynchronousReplication(Message):
    num_sync: int = 0


class PrimaryStatus(Message):
    """Only of a Postgres that accepts writes."""

    ready: bool = False
    lsn: Position = ""
    connected_followers: tuple[PoolerId, ...] | None = None
    sync_replication_config: SynchronousReplication | None = None


class ReplicationStatus(Message):
    """Only of a standby."""

    wal_receiver_status: str = ""
    last_replay_lsn: Position = ""
    lag: Duration | None = None


class PostgresReport(Message):
    is_initialized: bool = False
    postgres_running: bool = False
    postgres_ready: bool = False
    postgres_status: Name = ""
    postgres_action: Name = ""
    primary_status: PrimaryStatus | None = None
    replication_status: ReplicationStatus | None = None


class RuleNumber(Message):
    coordinator_term: Number | None = None
    leader_subterm: Number | None = None


class DurabilityPolicyReport(Message):
    quorum_type: Name = ""
    required_count: int = 0


class RuleReport(Message):
    rule_number: RuleNumber | None = None
    leader_id: PoolerId | None = None
    cohort_members: tuple[PoolerId, ...] | None = None
    durability_policy: DurabilityPolicyReport | None = None


class RulePosition(Message):
    decision: RuleReport | None = None
    proposal: RuleReport | None = None


class PoolerPosition(Message):
    position: RulePosition | None = None


class ConsensusReport(Message):
    current_position: PoolerPosition | None = None


class PoolerStatus(Message):
    """The answer of a pooler about its Postgres and about the rule that the servers of its shard have agreed on."""

    status: PostgresReport
    consensus_status: ConsensusReport | None = None

    @property
    def rule_position(self) -> RulePosition:
        consensus = self.consensus_status or ConsensusReport()
        return (consensus.current_position or PoolerPosition()).position or RulePosition()


class _Switched(Message):
    old_leader_id: PoolerId


class _Failure(Struct):
    code: int = 0
    message: str = ""


class Refusal(NamedTuple):
    """A gRPC status code, 0 if unknown, and multiadmin's sentence."""

    code: int = 0
    sentence: str = ""


def decode_pooler_status(answer: bytes | bytearray) -> PoolerStatus:
    return decode_message(answer, PoolerStatus)


def decode_switch(answer: bytes | bytearray) -> PoolerId:
    """The pooler that was the primary."""
    return decode_message(answer, _Switched).old_leader_id


def decode_refusal(answer: bytes | bytearray) -> Refusal:
    """What an error response says; nothing if it is not from multiadmin."""
    try:
        failure = decode_message(answer, _Failure)
    except MalformedAnswer:
        return Refusal()
    sentence = printable_sentence(failure.message)
    return Refusal(failure.code, sentence) if 0 < failure.code <= 16 else Refusal()


def printable_sentence(text: str) -> str:
    """The text without control characters, shortened."""
    return _UNPRINTABLE.sub(" ", text).strip()[:SENTENCE_CHARACTERS]


def duration_seconds(duration: str | None) -> float | None:
    return None if duration is None else float(duration.removesuffix("s"))


def wal_position(position: str) -> int | None:
    """Bytes of WAL up to a position such as 16/B374D848, None if there is none."""
    if not position:
        return None
    high, _, low = position.partition("/")
    return (int(high, 16) << 32) + int(low, 16)


def decode_message(answer: bytes | bytearray, of: type[T]) -> T:
    try:
        return msgspec.json.decode(answer, type=of)
    # RecursionError: deeper than any document of multiadmin. The cause is left out because it quotes the document.
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise MalformedAnswer("its answer is not the JSON that multiadmin sends") from None
