"""A fake API server for tests of the executor."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from steward.kube.apply.applier import ApplyOutcome, ApplyResult
from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.errors import (
    KubeError,
    NotFound,
)
from steward.kube.objects.kinds import CONFIG_MAP, Key, Kind, Manifest, Ref, ref_of
from steward.kube.objects.meta import Metadata
from steward.kube.objects.options import ApplyOptions, DeleteOptions
from steward.kube.objects.patches import Patch as PatchBody
from steward.runtime.plan.event_recorder import ObjectEvent
from steward.runtime.plan.executor import (
    ExecutorDependencies,
    PlanExecutor,
    StepHooks,
)

OBJECT = Ref(CONFIG_MAP, Key("shop", "cause"))
GONE = b'{"kind":"Status","status":"Success"}'


def manifest(name: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop"}}


def ref(name: str) -> Ref:
    return Ref(CONFIG_MAP, Key("shop", name))


def body(name: str, version: int, **meta: Any) -> bytes:
    fields = {"name": name, "namespace": "shop", "uid": f"uid-{name}", "resourceVersion": str(version)}
    return msgspec.json.encode({"apiVersion": "v1", "kind": "ConfigMap", "metadata": fields | meta})


class FakeServer:
    """A fake of client, applier, caches and event recorder; returns the configured answers, else success."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.errors: dict[str, Exception] = {}
        self.answers: dict[str, bytes] = {}
        self.events: list[ObjectEvent] = []
        self.store: Store[Metadata] = Store(CacheRule(CONFIG_MAP, Metadata, owned_by="us"))
        self.more_stores: list[Store[Metadata]] = []
        self.used_stores: list[Any] = []
        self.running = 0
        self.most_running = 0
        self.options: list[Any] = []

    def stores_of(self, kind: Kind) -> tuple[Store[Metadata], ...]:
        return tuple(store for store in (*self.more_stores, self.store) if store.kind == kind)

    async def _answer(self, verb: str, name: str, otherwise: bytes) -> bytes:
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        await asyncio.sleep(0)
        self.running -= 1
        self.calls.append(f"{verb} {name}")
        if name in self.errors:
            raise self.errors[name]
        return self.answers.get(name, otherwise)

    async def apply(self, manifest: Manifest, options: ApplyOptions, store: Any = None) -> ApplyResult:
        self.options.append(options)
        self.used_stores.append(store)
        verb = f"apply {options.subresource}".strip()
        name = ref_of(manifest).key.name
        answer = await self._answer(verb, name, body(name, 1))
        if store is not None:
            store.observe_write(answer)
        return ApplyResult(ApplyOutcome.CHANGED, answer)

    async def create(self, manifest: Manifest, **options: Any) -> bytes:
        name = ref_of(manifest).key.name
        return await self._answer("create", name, body(name, 1))

    async def patch(self, ref: Ref, patch: PatchBody, subresource: str = "", **options: Any) -> bytes:
        return await self._answer("patch", ref.key.name, body(ref.key.name, 5))

    async def delete(self, ref: Ref, options: DeleteOptions) -> bytes:
        self.options.append(options)
        return await self._answer("delete", ref.key.name, GONE)

    async def evict(self, ref: Ref, options: DeleteOptions) -> None:
        self.options.append(options)
        await self._answer("evict", ref.key.name, GONE)

    async def get(self, kind: Kind, key: Key) -> Any:
        if key.name not in self.answers:
            raise api_error(NotFound)
        return msgspec.json.decode(self.answers[key.name])

    def emit(self, event: ObjectEvent) -> None:
        self.calls.append(f"emit {event.reason}")
        self.events.append(event)

    def executor(self, hooks: StepHooks | None = None) -> PlanExecutor:
        return PlanExecutor(ExecutorDependencies(self, self, self, self), "us", hooks)  # type: ignore[arg-type]


def api_error(kind: type[KubeError], message: str = "refused") -> Any:
    return kind(400, "Reason", message)
