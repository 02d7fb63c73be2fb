"""Reads the API server's audit log, the independent record of all calls of all clients.

Each call counts once: when it was answered or, for a watch, when its stream began. The API server writes a line after
the answer, so before counting, `AuditLog` makes marker calls and waits until they appear in the log.

    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    mark = await audit.mark()
    ...                                             # let the controller do its work
    calls = await audit.calls_since(mark)
    assert len(calls.writes_of("my-controller")) == 3
    assert calls.tally() == {("patch", "deployments", "my-controller/1.0"): 3, ...}
    assert not calls.matching(Match(verb="list", resource="secrets"))

Dry runs are recognised by the query of the request: at the audit level Metadata, a dry-run delete that is requested
only in the body looks like a real delete.
"""

import asyncio
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

import aiohttp
import msgspec

from steward.testkit.proxy.faults import Match
from steward.testkit.proxy.requests import Call
from steward.testkit.proxy.upstream import read_upstream

MARKER_AGENT = "steward-audit-mark"
MARKER_TIMEOUT = 120.0
_MARKER_PATH = "/api/v1/namespaces/default"
_POLL = 0.02
_BEGUN = "ResponseStarted"
_ANSWERED = frozenset({"ResponseComplete", "Panic"})


class MarkerNotLoggedError(Exception):
    """A marker call did not appear in the log; the message says what to check."""


class _ObjectRef(msgspec.Struct, rename="camel"):
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    api_group: str = ""
    api_version: str = ""


class _Status(msgspec.Struct):
    code: int = 0


class _User(msgspec.Struct):
    username: str = ""


class _Annotations(msgspec.Struct):
    decision: str = msgspec.field(name="authorization.k8s.io/decision", default="")


class _Line(msgspec.Struct, rename="camel"):
    audit_id: str = msgspec.field(name="auditID", default="")
    request_uri: str = msgspec.field(name="requestURI", default="")
    stage: str = ""
    verb: str = ""
    user: _User = msgspec.field(default_factory=_User)
    impersonated_user: _User = msgspec.field(default_factory=_User)
    user_agent: str = ""
    object_ref: _ObjectRef = msgspec.field(default_factory=_ObjectRef)
    response_status: _Status = msgspec.field(default_factory=_Status)
    annotations: _Annotations = msgspec.field(default_factory=_Annotations)


class AuditedCall(msgspec.Struct, frozen=True):
    """One call: its user, the impersonated user, the response code, and whether RBAC allowed it."""

    call: Call
    code: int
    user: str
    acting_as: str = ""
    is_allowed: bool = False


class LogPosition(NamedTuple):
    """A position in the log; `file` is an inode, which stays the same when the log is rotated."""

    file: int
    offset: int


@dataclass(frozen=True)
class AuditedCalls:
    """Calls in the order in which they were answered."""

    items: tuple[AuditedCall, ...]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[AuditedCall]:
        return iter(self.items)

    def matching(self, match: Match) -> "AuditedCalls":
        return AuditedCalls(tuple(item for item in self.items if match.matches(item.call)))

    def writes(self) -> "AuditedCalls":
        """Writes with any response, without dry runs and reviews."""
        return self.matching(Match(write=True))

    def writes_of(self, user_agent: str) -> "AuditedCalls":
        """The writes of clients whose user agent contains this text."""
        return self.matching(Match(write=True, user_agent=user_agent))

    def with_codes(self, *codes: int) -> "AuditedCalls":
        return AuditedCalls(tuple(item for item in self.items if item.code in codes))

    def tally(self) -> Counter[tuple[str, str, str]]:
        """Number of calls by verb, resource (with its subresource) and user agent."""
        return Counter(
            (item.call.verb, _full_resource(item.call), item.call.user_agent) for item in self.items
        )


class AuditLog:
    """The audit log of one API server, with credentials for marker calls."""

    def __init__(self, path: Path | str, kubeconfig: Path | str) -> None:
        self._path = Path(path)
        self._upstream = read_upstream(kubeconfig)

    async def mark(self) -> LogPosition:
        """The position after all calls that were answered until now."""
        tail = _Tail(self._path, LogPosition(self._path.stat().st_ino, self._path.stat().st_size))
        await self._read_to_now(tail)
        return tail.mark

    async def calls_since(self, mark: LogPosition) -> AuditedCalls:
        """All calls answered since the mark, without marker calls."""
        lines = await self._read_to_now(_Tail(self._path, mark))
        return AuditedCalls(
            tuple(item for item in read_calls(lines) if MARKER_AGENT not in item.call.user_agent)
        )

    async def _read_to_now(self, tail: "_Tail") -> list[bytes]:
        # The line of an earlier call may be written after that of a later one: the second marker is sent after the
        # first has appeared, a round trip and a log write later.
        lines: list[bytes] = []
        async with self._upstream.session() as session:
            for _ in range(2):
                lines += await self._read_past_marker(tail, session)
        return lines

    async def _read_past_marker(self, tail: "_Tail", session: aiohttp.ClientSession) -> list[bytes]:
        agent = f"{MARKER_AGENT}/{uuid.uuid4().hex}"
        async with session.get(self._upstream.url + _MARKER_PATH, headers={"User-Agent": agent}) as reply:
            await reply.read()
        lines: list[bytes] = []
        try:
            async with asyncio.timeout(MARKER_TIMEOUT):
                while not _contain(fresh := tail.read(), agent):
                    lines += fresh
                    await asyncio.sleep(_POLL)
        except TimeoutError:
            raise MarkerNotLoggedError(
                f"{self._path} did not show our marker call within {MARKER_TIMEOUT:.0f} s: is it this API server's "
                "log, and does the audit policy log gets of namespaces at the level Metadata?"
            ) from None
        return lines + fresh


class _Tail:
    """Reads complete lines from a position on, across rotations of the log."""

    def __init__(self, path: Path, mark: LogPosition) -> None:
        self._path = path
        self.mark = mark

    def read(self) -> list[bytes]:
        lines: list[bytes] = []
        for file in self._files():
            lines += self._read_file(file)
        return lines

    def _files(self) -> list[Path]:
        """The file of the position, and the files that were begun after it."""
        if self._path.stat().st_ino == self.mark.file:
            return [self._path]
        rotated = self._path.parent.glob(f"{self._path.stem}-*{self._path.suffix}")
        files = [*sorted(rotated, key=lambda file: file.stat().st_mtime_ns), self._path]
        found = [index for index, file in enumerate(files) if file.stat().st_ino == self.mark.file]
        return files[found[0] :] if found else files

    def _read_file(self, file: Path) -> list[bytes]:
        with file.open("rb") as log:
            inode = file.stat().st_ino
            start = self.mark.offset if inode == self.mark.file else 0
            log.seek(start)
            data = log.read()
        end = data.rfind(b"\n") + 1
        self.mark = LogPosition(inode, start + end)
        return data[:end].splitlines()


def read_calls(lines: Iterable[bytes]) -> Iterator[AuditedCall]:
    """The calls that the lines record, each once."""
    decoder = msgspec.json.Decoder(_Line)
    begun: set[str] = set()
    for raw in lines:
        line = decoder.decode(raw)
        if line.stage == _BEGUN:
            begun.add(line.audit_id)
        elif line.stage not in _ANSWERED or line.audit_id in begun:
            continue
        yield _audited(line)


def _audited(line: _Line) -> AuditedCall:
    ref, uri = line.object_ref, urlsplit(line.request_uri)
    call = Call(
        method="",
        path=uri.path,
        verb=line.verb,
        group=ref.api_group,
        version=ref.api_version,
        resource=ref.resource,
        subresource=ref.subresource,
        namespace=_namespace(ref),
        name=ref.name,
        user_agent=line.user_agent,
        dry_run="dryRun" in parse_qs(uri.query),
    )
    is_allowed = line.annotations.decision == "allow"
    user, acting_as = line.user.username, line.impersonated_user.username
    return AuditedCall(call, line.response_status.code, user, acting_as, is_allowed)


def _contain(lines: list[bytes], text: str) -> bool:
    return any(text.encode() in line for line in lines)


def _namespace(ref: _ObjectRef) -> str:
    # The log gives a Namespace as its own namespace; `parse_call` does not.
    return "" if ref.resource == "namespaces" and not ref.subresource else ref.namespace


def _full_resource(call: Call) -> str:
    return f"{call.resource}/{call.subresource}" if call.subresource else call.resource
