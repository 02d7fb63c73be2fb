"""Remote control of a fault proxy in another process: paths on the proxy itself, and their client.

GET    /.steward/rules         lists the active rules with their counters
POST   /.steward/rules         adds a Rule (JSON); the response holds its id
DELETE /.steward/rules[/ID]    removes one rule, or all
GET    /.steward/seen?after=N  lists the recorded calls after call number N
POST   /.steward/cut           a Match (JSON): closes the connections of matching calls in progress
"""

import ssl
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import aiohttp
import msgspec
import yaml
from aiohttp import web

from steward.testkit.proxy.faults import Match, Rule
from steward.testkit.proxy.forward import RecordedCall
from steward.testkit.proxy.rules import ActiveRule

if TYPE_CHECKING:
    from steward.testkit.proxy.server import FaultProxy

PREFIX = "/.steward/"


class RuleState(msgspec.Struct):
    """An active rule, as sent to another process."""

    id: int
    rule: Rule
    matched: int
    hits: int


async def handle_control_request(proxy: "FaultProxy", request: web.BaseRequest) -> web.Response:
    """Handle one request to the control paths."""
    body = await request.content.read()
    try:
        return _json(_handle(proxy, request, body))
    except msgspec.DecodeError as error:
        return web.Response(status=400, text=f"the body is no rule or match: {error}")
    except LookupError:
        return web.Response(status=404, text=f"no control path {request.method} {request.path}")


def _handle(proxy: "FaultProxy", request: web.BaseRequest, body: bytes) -> object:
    noun, _, number = request.path.removeprefix(PREFIX).partition("/")
    match request.method, noun:
        case "GET", "rules":
            return [_state(entry) for entry in proxy.rules.entries()]
        case "POST", "rules":
            return _state(proxy.add(msgspec.json.decode(body, type=Rule)))
        case "DELETE", "rules":
            _remove_rules(proxy, number)
            return None
        case "GET", "seen":
            after = int(request.query.get("after", "0"))
            return [recorded for recorded in list(proxy.recorded) if recorded.number > after]
        case "POST", "cut":
            return proxy.cut(msgspec.json.decode(body, type=Match))
    raise LookupError


def _remove_rules(proxy: "FaultProxy", number: str) -> None:
    if number:
        proxy.rules.remove(int(number))
    else:
        proxy.rules.clear()


def _state(entry: ActiveRule) -> RuleState:
    return RuleState(entry.id, entry.rule, entry.matched, entry.hits)


def _json(value: object) -> web.Response:
    return web.Response(body=msgspec.json.encode(value), content_type="application/json")


class RemoteProxy:
    """The client of a fault proxy in another process, found by the kubeconfig that it wrote.

    async with RemoteProxy(kubeconfig) as proxy:
        rule = await proxy.add(Rule(Match(write=True), Drop(), count=1))
        ...
        await proxy.remove(rule.id)
    """

    def __init__(self, kubeconfig: Path | str) -> None:
        cluster = yaml.safe_load(Path(kubeconfig).read_text())["clusters"][0]["cluster"]
        self._url = cluster["server"] + PREFIX
        self._trust = ssl.create_default_context(cafile=cluster["certificate-authority"])

    async def __aenter__(self) -> Self:
        connector = aiohttp.TCPConnector(ssl=self._trust)
        self._session = aiohttp.ClientSession(connector=connector, raise_for_status=True)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._session.close()

    async def add(self, rule: Rule) -> RuleState:
        return msgspec.json.decode(await self._call("POST", "rules", rule), type=RuleState)

    async def remove(self, rule_id: int) -> None:
        await self._call("DELETE", f"rules/{rule_id}")

    async def clear(self) -> None:
        await self._call("DELETE", "rules")

    async def rules(self) -> list[RuleState]:
        return msgspec.json.decode(await self._call("GET", "rules"), type=list[RuleState])

    async def recorded(self, after: int = 0) -> list[RecordedCall]:
        return msgspec.json.decode(await self._call("GET", f"seen?after={after}"), type=list[RecordedCall])

    async def cut(self, match: Match) -> int:
        return msgspec.json.decode(await self._call("POST", "cut", match), type=int)

    async def _call(self, method: str, path: str, body: msgspec.Struct | None = None) -> bytes:
        data = None if body is None else msgspec.json.encode(body)
        async with self._session.request(method, self._url + path, data=data) as reply:
            return await reply.read()
