"""How many bytes of answers may be held at once, over all servers that are read at the same time."""

from steward.etcd.errors import EtcdError, MalformedAnswer

FREE_BYTES = 256 << 10
"""What each client may hold in any case. The answers for most clusters fit, so that servers with large answers do not
delay them."""
SHARED_BYTES = 24 << 20
LIST_BYTES = 8 << 20
"""The longest answers of one client together. The records of 640 shards with 6 servers each need about 3 MiB."""


class AnswerMemory:
    """Shared by the clients of a process."""

    def __init__(self, shared_bytes: int = SHARED_BYTES) -> None:
        self._left = shared_bytes

    def take(self, count: int) -> bool:
        if count > self._left:
            return False
        self._left -= count
        return True

    def give_back(self, count: int) -> None:
        self._left += count


class AnswerReservation:
    """The bytes that one client holds until it is closed."""

    def __init__(self, memory: AnswerMemory) -> None:
        self._memory = memory
        self._held = self._shared = 0

    def add(self, count: int) -> None:
        if self._held + count > LIST_BYTES:
            raise MalformedAnswer(f"its answers together are longer than {LIST_BYTES} bytes")
        shared = max(0, self._held + count - FREE_BYTES) - self._shared
        if not self._memory.take(shared):
            raise EtcdError("the answers of all topology servers are too large to be read at once")
        self._held += count
        self._shared += shared

    def release(self) -> None:
        self._memory.give_back(self._shared)
        self._held = self._shared = 0
