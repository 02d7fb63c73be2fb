"""Whether an object still exists after a write, as the response to the write says."""

import msgspec


class _RemainingMeta(msgspec.Struct, frozen=True, rename="camel"):
    uid: str = ""
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    finalizers: tuple[str, ...] = ()


class _Remaining(msgspec.Struct, frozen=True):
    kind: str = ""
    metadata: _RemainingMeta = _RemainingMeta()


def is_terminating(body: bytes) -> bool:
    """Whether the response to a delete holds an object that still exists, for its finalizers or grace period."""
    remaining = msgspec.json.decode(body, type=_Remaining)
    if remaining.kind == "Status" or remaining.metadata.deletion_timestamp is None:
        return False
    return bool(remaining.metadata.finalizers or remaining.metadata.deletion_grace_period_seconds)


def uid_if_deleted(body: bytes) -> str:
    """The uid of a terminating object whose last finalizer a patch has removed: it does not exist any more."""
    remaining = msgspec.json.decode(body, type=_Remaining)
    is_deleted = remaining.metadata.deletion_timestamp is not None and not is_terminating(body)
    return remaining.metadata.uid if is_deleted else ""
