"""An API server with the streams of a kubelet: logs, and ports of pods, as `v4.channel.k8s.io` carries them.

The local control plane of the tests has no kubelets. This server answers the requests of `steward logs` and
`steward psql` as an API server in front of a kubelet does; ports lead to servers of the test.
"""

from __future__ import annotations

import asyncio
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from aiohttp import WSMsgType, web

from steward.kube.objects.kinds import Manifest

SUBPROTOCOL = "v4.channel.k8s.io"
DATA, ERROR = 0, 1
Json = dict[str, Any]

RESOURCES = {
    ("", "v1"): {"pods": "Pod", "secrets": "Secret"},
    ("multigres.com", "v1alpha1"): {"multigresclusters": "MultigresCluster", "shards": "Shard"},
}


@dataclass
class PodStreamServer:
    """`objects` by path, `logs` and `ports` by pod; a pod that is not in `logs` has not started."""

    objects: dict[str, Manifest] = field(default_factory=dict)
    logs: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    ports: dict[tuple[str, int], tuple[str, int]] = field(default_factory=dict)
    denied: set[str] = field(default_factory=set)
    """Endings of paths that are answered with 403."""
    requests: list[str] = field(default_factory=list)
    url: str = ""

    def add(self, plural: str, manifest: Manifest) -> None:
        group = manifest["apiVersion"]
        root = f"/api/{group}" if group == "v1" else f"/apis/{group}"
        meta = manifest["metadata"]
        meta.setdefault("uid", f"uid-{plural}-{meta['name']}")
        self.objects[f"{root}/namespaces/{meta['namespace']}/{plural}/{meta['name']}"] = manifest

    def write_kubeconfig(self, path: Path) -> Path:
        cluster = {"name": "test", "cluster": {"server": self.url}}
        context = {"name": "test", "context": {"cluster": "test", "user": "test", "namespace": "shop"}}
        config = {
            "current-context": "test",
            "clusters": [cluster],
            "contexts": [context],
            "users": [{"name": "test", "user": {"token": "t0ken"}}],
        }
        path.write_text(yaml.safe_dump(config))
        return path

    def append_log(self, pod: str, container: str, line: str) -> None:
        self.logs[pod, container].append(line)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(f"{request.method} {request.path_qs}")
        if any(request.path.endswith(ending) for ending in self.denied):
            return _status(403, "Forbidden", "not allowed")
        if request.path == "/version":
            return web.json_response({"major": "1", "minor": "34", "gitVersion": "v1.34.0"})
        if request.path in ("/api", "/apis"):
            return web.json_response(_discovery(request.path == "/apis"))
        if request.path.endswith("/log"):
            return await self._answer_log(request)
        if request.path.endswith("/portforward"):
            return await self._answer_port(request)
        return self._answer_object(request)

    def _answer_object(self, request: web.Request) -> web.Response:
        if request.path in self.objects:
            return web.json_response(self.objects[request.path])
        plural = request.path.rpartition("/")[2]
        if not any(plural in names for names in RESOURCES.values()):
            return _status(404, "NotFound", "there is no such object")
        found = [each for path, each in self.objects.items() if path.rpartition("/")[0] == request.path]
        chosen = [each for each in found if _is_selected(each, request.query.get("labelSelector", ""))]
        return web.json_response({"metadata": {"resourceVersion": "1"}, "items": chosen})

    async def _answer_log(self, request: web.Request) -> web.StreamResponse:
        name = (request.path.split("/")[-2], request.query["container"])
        if name not in self.logs:
            return _status(400, "BadRequest", f"container {name[1]} in pod {name[0]} is waiting to start")
        lines, tail = self.logs[name], request.query.get("tailLines")
        sent = max(0, len(lines) - int(tail)) if tail is not None else 0
        response = web.StreamResponse(headers={"Content-Type": "text/plain"})
        await response.prepare(request)
        while True:
            # Counted before they are written: the thread of the test may append a line in the meantime.
            fresh = lines[sent:]
            for line in fresh:
                await response.write(f"{line}\n".encode())
            sent += len(fresh)
            if request.query.get("follow") != "true":
                break
            await asyncio.sleep(0.02)
        await response.write_eof()
        return response

    async def _answer_port(self, request: web.Request) -> web.StreamResponse:
        pod, port = request.path.split("/")[-2], int(request.query["ports"])
        socket = web.WebSocketResponse(protocols=(SUBPROTOCOL,))
        await socket.prepare(request)
        for channel in (DATA, ERROR):
            await socket.send_bytes(bytes((channel,)) + struct.pack("<H", port))
        try:
            reader, writer = await asyncio.open_connection(*self.ports[pod, port])
        except (KeyError, OSError):
            text = f"error forwarding port {port} to pod {pod}: connection refused"
            await socket.send_bytes(bytes((ERROR,)) + text.encode())
            await socket.close()
            return socket
        answers = asyncio.create_task(_copy(reader, socket))
        try:
            async for message in socket:
                if message.type is WSMsgType.BINARY and message.data[0] == DATA:
                    writer.write(message.data[1:])
                    await writer.drain()
        finally:
            answers.cancel()
            writer.close()
            await asyncio.gather(answers, writer.wait_closed(), return_exceptions=True)
        return socket


async def _copy(reader: asyncio.StreamReader, socket: web.WebSocketResponse) -> None:
    """The kubelet closes the whole socket when the port of the pod is closed."""
    while chunk := await reader.read(1 << 16):
        await socket.send_bytes(bytes((DATA,)) + chunk)
    await socket.close()


def _is_selected(manifest: Manifest, selector: str) -> bool:
    labels = manifest["metadata"].get("labels") or {}
    for term in filter(None, selector.split(",")):
        name, equals, value = term.partition("=")
        if name not in labels or (equals and labels[name] != value):
            return False
    return True


def _status(code: int, reason: str, message: str) -> web.Response:
    body = {"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message}
    return web.json_response(body, status=code)


def _discovery(is_grouped: bool) -> Json:
    items = [
        {
            "metadata": {"name": group},
            "versions": [{"version": version, "resources": [_resource(*pair) for pair in names.items()]}],
        }
        for (group, version), names in RESOURCES.items()
        if bool(group) is is_grouped
    ]
    return {"kind": "APIGroupDiscoveryList", "items": items}


def _resource(plural: str, kind: str) -> Json:
    return {
        "resource": plural,
        "responseKind": {"kind": kind},
        "scope": "Namespaced",
        "verbs": ["get", "list"],
    }


@contextmanager
def running_server(server: PodStreamServer) -> Iterator[PodStreamServer]:
    """In a thread: the commands under test run an event loop of their own."""
    loop = asyncio.new_event_loop()
    started = threading.Event()

    async def start() -> web.AppRunner:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", server.answer)
        runner = web.AppRunner(app, handle_signals=False, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        return runner

    def serve() -> None:
        runner = loop.run_until_complete(start())
        started.set()
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    started.wait(timeout=60)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


def pod(name: str, *containers: str, **labels: str) -> Manifest:
    """A ready pod of namespace shop; labels with `_` for `/`."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "labels": labels},
        "spec": {"containers": [{"name": each} for each in containers]},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    }
