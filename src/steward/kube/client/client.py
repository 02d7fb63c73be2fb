"""The verbs of Kubernetes, for any kind that the server has.

A call becomes one Request: the path from discovery, the parameters from its options, and the two facts that the
transport cannot know: whether it changes the cluster, and whether sending it twice is harmless. Writes return the raw
body of the answer, and the caller decodes what it needs of it.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, TypeVar, Unpack, overload

import msgspec
from msgspec.structs import replace as changed

from steward.kube.auth.impersonation import impersonation_headers
from steward.kube.client import decode
from steward.kube.client.decode import Listing, Page
from steward.kube.client.discovery import Discovery
from steward.kube.clock import Clock
from steward.kube.config.settings import ConnectionSettings, Impersonation
from steward.kube.errors import AlreadyExists, Conflict, FieldConflict, Gone, NoSuchKind, NotFound
from steward.kube.objects import kinds
from steward.kube.objects.auth_reviews import (
    Access,
    AccessAnswer,
    AccessReviewed,
    Subject,
    TokenAnswer,
    TokenReviewed,
)
from steward.kube.objects.kinds import Key, Kind, Manifest, Ref, ref_of
from steward.kube.objects.meta import Metadata
from steward.kube.objects.options import (
    ApplyOptions,
    DeleteOptions,
    ListQuery,
    WatchQuery,
    WriteOptions,
    write_params,
)
from steward.kube.objects.patches import APPLY, JsonPatch, MergePatch, Patch, StrategicPatch
from steward.kube.objects.scale import Scale
from steward.kube.transport.request import Effect, Messenger, Request, Terms
from steward.kube.transport.retry import RetryPolicy
from steward.kube.transport.status_errors import is_about_the_path

if TYPE_CHECKING:
    from steward.kube.transport.transport import TransportOptions

__all__ = [
    "Access",
    "AccessAnswer",
    "ApplyOptions",
    "Client",
    "DeleteOptions",
    "Impersonation",
    "JsonPatch",
    "ListQuery",
    "Listing",
    "MergePatch",
    "Patch",
    "Scale",
    "StrategicPatch",
    "Subject",
    "TokenAnswer",
    "WatchQuery",
    "WriteOptions",
    "connect",
]

T = TypeVar("T")

# The revision of an empty etcd: the first object that is ever written has a later one.
_NO_VERSION = "1"

_METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

EVERYTHING = ListQuery()
AS_IT_IS = DeleteOptions()

_encode = msgspec.json.encode


class Client:
    def __init__(self, transport: Messenger, discovery: Discovery, terms: Terms | None = None) -> None:
        self._transport = transport
        self._terms = terms or Terms()
        self.discovery = discovery

    async def close(self) -> None:
        await self._transport.close()

    def as_user(self, who: Impersonation) -> "Client":
        """The same connection, acting as someone else."""
        return self._under(changed(self._terms, headers=impersonation_headers(who)))

    def for_election(self) -> "Client":
        """For the lease alone: what it writes decides who leads, and it waits behind nobody."""
        return self._under(changed(self._terms, election=True))

    def within(self, seconds: float, retry: RetryPolicy | None = None) -> "Client":
        """The same connection, with another deadline for each call."""
        return self._under(changed(self._terms, timeout=seconds, retry=retry))

    def metadata_only(self) -> "Client":
        """The same connection, for lists: they hold metadata alone, and no content crosses the wire."""
        return self._under(changed(self._terms, headers=(*self._terms.headers, ("Accept", _METADATA))))

    @overload
    async def get(self, kind: Kind, key: Key) -> Manifest: ...
    @overload
    async def get(self, kind: Kind, key: Key, view: type[T]) -> T: ...
    async def get(self, kind: Kind, key: Key, view: type = dict) -> object:
        path = await self._path(Ref(kind, key))
        return decode.one(await self._call(kind, Request(method="GET", path=path)), view)

    @overload
    async def list(self, kind: Kind, query: ListQuery = ...) -> Listing[Manifest]: ...
    @overload
    async def list(self, kind: Kind, query: ListQuery, view: type[T]) -> Listing[T]: ...
    async def list(self, kind: Kind, query: ListQuery = EVERYTHING, view: type = dict) -> object:
        """All pages as one. When they expire while being read, all is read again in one piece."""
        try:
            return await self._pages(kind, query, view)
        except Gone:
            if not query.limit:
                raise
            return await self._pages(kind, changed(query, limit=0), view)

    async def has_any(self, kind: Kind, query: ListQuery) -> bool:
        """Whether a list would hold anything. At most one object crosses the wire."""
        return bool((await self.first_page(kind, changed(query, limit=1), Metadata)).items)

    async def first_page(self, kind: Kind, query: ListQuery, view: type[T]) -> Page[T]:
        """For whoever can do with a part: `more` of the answer says whether it is one."""
        path = (await self.discovery.resource(kind)).collection(query.namespace)
        request = Request(method="GET", path=path, query=query.params())
        return decode.page(await self._call(kind, request), kind, view)

    async def _pages(self, kind: Kind, query: ListQuery, view: type[T]) -> Listing[T]:
        path = (await self.discovery.resource(kind)).collection(query.namespace)
        first = Request(method="GET", path=path, query=query.params())
        page = decode.page(await self._call(kind, first), kind, view)
        items, version = page.items, page.resource_version
        while page.more:
            following = changed(first, query=query.params_after(page.more))
            page = decode.page(await self._call(kind, following), kind, view)
            items.extend(page.items)
            version = page.resource_version
        return Listing(items, version)

    @asynccontextmanager
    async def watch(self, kind: Kind, query: WatchQuery) -> AsyncIterator[AsyncIterator[bytes]]:
        """The stream's lines, one event each. How long silence may last is the reader's to say."""
        path = (await self.discovery.resource(kind)).collection(query.namespace)
        request = Request(method="GET", path=path, query=query.params())
        async with AsyncExitStack() as stack:
            try:
                lines = await stack.enter_async_context(self._transport.stream(self._terms.of(request)))
            except NotFound as error:
                self._look_at(error, kind)
                raise
            yield lines

    async def create(self, manifest: Manifest, **options: Unpack[WriteOptions]) -> bytes:
        ref = ref_of(manifest)
        path = (await self.discovery.resource(ref.kind)).collection(ref.key.namespace)
        request = Request(
            method="POST",
            path=path,
            query=write_params(options),
            body=_encode(manifest),
            effect=_effect(options.get("dry_run", False)),
        )
        return await self._call(ref.kind, request)

    async def apply(self, manifest: Manifest, options: ApplyOptions) -> bytes:
        if options.only_if_absent:
            return await self._apply_to_nothing(manifest, options)
        ref = ref_of(manifest)
        request = Request(
            method="PATCH",
            path=await self._path(ref, options.subresource),
            query=options.params(),
            body=_encode(manifest),
            content_type=APPLY,
            effect=_effect(options.dry_run),
            repeatable=options.force,
        )
        return await self._call(ref.kind, request)

    async def _apply_to_nothing(self, manifest: Manifest, options: ApplyOptions) -> bytes:
        """An apply of a version that no object can have: the server makes what is not there, and refuses the rest.

        A create would do the same, but it leaves our fields under the operation Update, and every later apply would
        share them with that entry: nothing could be taken out again. Repeated after a lost answer it finds what it
        made itself: whoever gets AlreadyExists looks at whose it is.
        """
        metadata = {**manifest["metadata"], "resourceVersion": _NO_VERSION}
        try:
            return await self.apply(
                {**manifest, "metadata": metadata}, changed(options, only_if_absent=False)
            )
        except (Conflict, FieldConflict) as error:
            told = f"{ref_of(manifest)} is there already"
            raise AlreadyExists(error.status, "AlreadyExists", told, error.details) from error

    async def patch(
        self, ref: Ref, patch: Patch, subresource: str = "", **options: Unpack[WriteOptions]
    ) -> bytes:
        request = Request(
            method="PATCH",
            path=await self._path(ref, subresource),
            query=write_params(options),
            body=patch.encode(),
            content_type=patch.content_type,
            effect=_effect(options.get("dry_run", False)),
            repeatable=patch.guarded,
        )
        return await self._call(ref.kind, request)

    async def replace(
        self, manifest: Manifest, subresource: str = "", **options: Unpack[WriteOptions]
    ) -> bytes:
        ref = ref_of(manifest)
        request = Request(
            method="PUT",
            path=await self._path(ref, subresource),
            query=write_params(options),
            body=_encode(manifest),
            effect=_effect(options.get("dry_run", False)),
            repeatable=bool(manifest["metadata"].get("resourceVersion")),
        )
        return await self._call(ref.kind, request)

    async def delete(self, ref: Ref, options: DeleteOptions = AS_IT_IS) -> bytes:
        """The answer shows the object where it lives on, for its finalizers or its grace."""
        request = Request(
            method="DELETE",
            path=await self._path(ref),
            body=_encode(options.body()),
            effect=_effect(options.dry_run),
            repeatable=options.is_guarded,
        )
        return await self._call(ref.kind, request)

    async def delete_collection(
        self, kind: Kind, query: ListQuery, options: DeleteOptions = AS_IT_IS
    ) -> None:
        request = Request(
            method="DELETE",
            path=(await self.discovery.resource(kind)).collection(query.namespace),
            query=changed(query, limit=0).params(),
            body=_encode(options.body()),
            effect=_effect(options.dry_run),
        )
        await self._call(kind, request)

    async def evict(self, ref: Ref, options: DeleteOptions = AS_IT_IS) -> None:
        """Deletes a pod unless a PodDisruptionBudget forbids it: then DisruptionBudget is raised at once."""
        eviction = {
            "apiVersion": kinds.EVICTION.api_version,
            "kind": kinds.EVICTION.kind,
            "metadata": {"name": ref.key.name, "namespace": ref.key.namespace},
            "deleteOptions": options.body(),
        }
        request = Request(
            method="POST",
            path=await self._path(ref, "eviction"),
            body=_encode(eviction),
            effect=_effect(options.dry_run),
        )
        await self._call(ref.kind, request)

    async def get_scale(self, ref: Ref) -> Scale:
        request = Request(method="GET", path=await self._path(ref, "scale"))
        return decode.one(await self._call(ref.kind, request), Scale)

    async def set_scale(self, ref: Ref, replicas: int, **options: Unpack[WriteOptions]) -> Scale:
        patch = MergePatch({"spec": {"replicas": replicas}})
        return decode.one(await self.patch(ref, patch, "scale", **options), Scale)

    async def review_token(self, token: str, audiences: tuple[str, ...] = ()) -> TokenAnswer:
        spec = {"token": token, "audiences": list(audiences)}
        return decode.one(await self._review(kinds.TOKEN_REVIEW, spec), TokenReviewed).answer()

    async def review_access(self, access: Access, subject: Subject | None = None) -> AccessAnswer:
        """Whether the subject may do this; without one, whether we may."""
        kind = kinds.SUBJECT_ACCESS_REVIEW if subject else kinds.SELF_SUBJECT_ACCESS_REVIEW
        spec = {**access.attributes(), **(subject.attributes() if subject else {})}
        return decode.one(await self._review(kind, spec), AccessReviewed).status

    async def _review(self, kind: Kind, spec: Manifest) -> bytes:
        path = (await self.discovery.resource(kind)).collection()
        review = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {}, "spec": spec}
        return await self._call(kind, Request(method="POST", path=path, body=_encode(review)))

    async def _path(self, ref: Ref, subresource: str = "") -> str:
        return (await self.discovery.resource(ref.kind)).path(ref.key, subresource)

    async def _call(self, kind: Kind, request: Request) -> bytes:
        try:
            return (await self._transport.request(self._terms.of(request))).body
        except NotFound as error:
            self._look_at(error, kind)
            raise

    def _look_at(self, error: NotFound, kind: Kind) -> None:
        """What is missing may be the kind and not the object."""
        if is_about_the_path(error):
            self.discovery.doubt(kind)
            raise NoSuchKind(f"the server does not serve {kind}, or not this part of it ({error})") from error

    def _under(self, terms: Terms) -> "Client":
        return Client(self._transport, self.discovery, terms)


async def connect(settings: ConnectionSettings, options: "TransportOptions | None" = None) -> Client:
    """A client of the cluster that the settings name; nothing is sent before the first call."""
    # Not at the top: who asks a few questions and ends (`brief`) need not wait for an HTTP client.
    from steward.kube.transport.transport import Transport, TransportOptions

    options = options or TransportOptions()
    return client_over(Transport(settings, options), settings, options.clock)


def client_over(messenger: Messenger, settings: ConnectionSettings, clock: Clock) -> Client:
    who = settings.impersonation
    terms = Terms(headers=impersonation_headers(who)) if who else Terms()
    return Client(messenger, Discovery(messenger, clock), terms)


def _effect(dry_run: bool) -> Effect:
    return Effect.READ if dry_run else Effect.WRITE
