"""The Kubernetes API verbs, for any kind that the API server serves.

A call becomes one Request: its path comes from discovery, its parameters from the options, and it states what the
transport cannot know: whether it changes the cluster, and whether it is idempotent. Writes return the raw body of the
response, of which the caller decodes what it needs.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, TypeVar, Unpack, overload
from urllib.parse import quote

import msgspec
from msgspec.structs import replace as changed

from steward.kube.client import decode
from steward.kube.client.decode import Listing, Page
from steward.kube.client.discovery import Discovery
from steward.kube.clock import Clock
from steward.kube.config.settings import ConnectionSettings, Impersonation
from steward.kube.errors import AlreadyExists, Conflict, FieldConflict, Gone, NoSuchKind, NotFound
from steward.kube.objects import kinds
from steward.kube.objects.auth_reviews import (
    Access,
    AccessReview,
    AccessReviewResult,
    Subject,
    TokenReview,
    TokenReviewResult,
)
from steward.kube.objects.kinds import Key, Kind, Manifest, Ref, ref_of
from steward.kube.objects.meta import Metadata
from steward.kube.objects.options import (
    ApplyOptions,
    DeleteOptions,
    ListQuery,
    LogQuery,
    WatchQuery,
    WriteOptions,
    write_params,
)
from steward.kube.objects.patches import (
    APPLY,
    JsonPatch,
    MergePatch,
    Patch,
    StrategicPatch,
    escape_for_yaml,
)
from steward.kube.transport.request import ApiTransport, CallOptions, Effect, Request
from steward.kube.transport.retry import RetryPolicy
from steward.kube.transport.status_errors import is_unserved_path

if TYPE_CHECKING:
    from steward.kube.transport.transport import TransportOptions

__all__ = [
    "Access",
    "AccessReviewResult",
    "ApplyOptions",
    "Client",
    "DeleteOptions",
    "Impersonation",
    "JsonPatch",
    "ListQuery",
    "Listing",
    "MergePatch",
    "Patch",
    "StrategicPatch",
    "Subject",
    "TokenReviewResult",
    "WatchQuery",
    "WriteOptions",
    "connect",
]

T = TypeVar("T")

# The revision of an empty etcd, which no object can have as its resourceVersion.
_NO_VERSION = "1"

_METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

EVERYTHING = ListQuery()
NO_OPTIONS = DeleteOptions()

_encode = msgspec.json.encode


class Client:
    def __init__(
        self, transport: ApiTransport, discovery: Discovery, call_options: CallOptions | None = None
    ) -> None:
        self._transport = transport
        self._options = call_options or CallOptions()
        self.discovery = discovery

    async def close(self) -> None:
        await self._transport.close()

    def as_user(self, impersonation: Impersonation) -> "Client":
        """The same connection, impersonating another user."""
        return self._with_options(changed(self._options, headers=impersonation.headers()))

    def for_election(self) -> "Client":
        """For the leader lease only: its requests skip the leader check and the limits on requests."""
        return self._with_options(changed(self._options, election=True))

    def with_timeout(self, seconds: float, retry: RetryPolicy | None = None) -> "Client":
        """The same connection, with another timeout for each call."""
        return self._with_options(changed(self._options, timeout=seconds, retry=retry))

    def metadata_only(self) -> "Client":
        """The same connection, for lists: the server sends only the metadata of the objects."""
        return self._with_options(
            changed(self._options, headers=(*self._options.headers, ("Accept", _METADATA)))
        )

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
        """All pages as one list. When the continue token expires, the list is read again without pages."""
        try:
            return await self._pages(kind, query, view)
        except Gone:
            if not query.limit:
                raise
            return await self._pages(kind, changed(query, limit=0), view)

    async def has_any(self, kind: Kind, query: ListQuery) -> bool:
        """Whether a list would hold anything. Reads at most one object."""
        return bool((await self.first_page(kind, changed(query, limit=1), Metadata)).items)

    async def first_page(self, kind: Kind, query: ListQuery, view: type[T]) -> Page[T]:
        """The first page of a list; its `more` is not empty when there are other pages."""
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
        """The lines of the stream, one event each. It has no timeout: the caller decides how long it may be silent."""
        path = (await self.discovery.resource(kind)).collection(query.namespace)
        request = Request(method="GET", path=path, query=query.params())
        async with AsyncExitStack() as stack:
            try:
                lines = await stack.enter_async_context(
                    self._transport.stream(self._options.apply_to(request))
                )
            except NotFound as error:
                self._raise_if_unserved(error, kind)
                raise
            yield lines

    async def read_log(self, pod: Key, query: LogQuery) -> bytes:
        request = Request(
            method="GET", path=await self._path(Ref(kinds.POD, pod), "log"), query=query.params()
        )
        return (await self._transport.request(self._for_text().apply_to(request))).body

    @asynccontextmanager
    async def follow_log(self, pod: Key, query: LogQuery) -> AsyncIterator[AsyncIterator[bytes]]:
        """The lines as the container writes them. The timeout counts until the first one."""
        request = Request(
            method="GET", path=await self._path(Ref(kinds.POD, pod), "log"), query=query.params()
        )
        async with self._transport.stream(self._for_text().apply_to(request)) as lines:
            yield lines

    def _for_text(self) -> CallOptions:
        return changed(self._options, headers=(*self._options.headers, ("Accept", "*/*")))

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
            return await self._apply_if_absent(manifest, options)
        if options.resource_version:
            metadata = {**manifest["metadata"], "resourceVersion": options.resource_version}
            manifest = {**manifest, "metadata": metadata}
        ref = ref_of(manifest)
        request = Request(
            method="PATCH",
            path=await self._path(ref, options.subresource),
            query=options.params(),
            body=escape_for_yaml(_encode(manifest)),
            content_type=APPLY,
            effect=_effect(options.dry_run),
            idempotent=options.force,
        )
        return await self._call(ref.kind, request)

    async def _apply_if_absent(self, manifest: Manifest, options: ApplyOptions) -> bytes:
        """Applies with a resourceVersion that no object can have: the server creates the object, or rejects the apply.

        A create was rejected: it records our fields under the operation Update, every later apply would share them with
        that entry, and no field could be removed again. A retry after a lost response finds the object that it created
        itself: a caller that gets AlreadyExists must check who owns the object.
        """
        metadata = {**manifest["metadata"], "resourceVersion": _NO_VERSION}
        try:
            return await self.apply(
                {**manifest, "metadata": metadata}, changed(options, only_if_absent=False)
            )
        except (Conflict, FieldConflict) as error:
            message = f"{ref_of(manifest)} already exists"
            raise AlreadyExists(error.status, "AlreadyExists", message, error.details) from error

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
            idempotent=patch.has_precondition,
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
            idempotent=bool(manifest["metadata"].get("resourceVersion")),
        )
        return await self._call(ref.kind, request)

    async def delete(self, ref: Ref, options: DeleteOptions = NO_OPTIONS) -> bytes:
        """Returns the object if it still exists, because of its finalizers or its grace period."""
        request = Request(
            method="DELETE",
            path=await self._path(ref),
            body=_encode(options.body()),
            effect=_effect(options.dry_run),
            idempotent=options.has_precondition,
        )
        return await self._call(ref.kind, request)

    async def evict(self, ref: Ref, options: DeleteOptions = NO_OPTIONS) -> None:
        """Deletes a pod unless a PodDisruptionBudget forbids it; then raises DisruptionBudget without a retry."""
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

    async def read_openapi(self, api_version: str) -> Manifest:
        """The OpenAPI document of a group version, which every user may read. Raises NotFound if it is not served."""
        root = "apis" if "/" in api_version else "api"
        request = Request(method="GET", path=f"/openapi/v3/{root}/{quote(api_version)}")
        response = await self._transport.request(self._options.apply_to(request))
        found: Manifest = msgspec.json.decode(response.body)
        return found

    async def review_token(self, token: str, audiences: tuple[str, ...] = ()) -> TokenReviewResult:
        spec = {"token": token, "audiences": list(audiences)}
        return decode.one(await self._review(kinds.TOKEN_REVIEW, spec), TokenReview).result()

    async def review_access(self, access: Access, subject: Subject | None = None) -> AccessReviewResult:
        """Whether the subject is allowed to do this; without a subject, whether we are."""
        kind = kinds.SUBJECT_ACCESS_REVIEW if subject else kinds.SELF_SUBJECT_ACCESS_REVIEW
        spec = {**access.attributes(), **(subject.attributes() if subject else {})}
        return decode.one(await self._review(kind, spec), AccessReview).status

    async def _review(self, kind: Kind, spec: Manifest) -> bytes:
        path = (await self.discovery.resource(kind)).collection()
        review = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {}, "spec": spec}
        return await self._call(kind, Request(method="POST", path=path, body=_encode(review)))

    async def _path(self, ref: Ref, subresource: str = "") -> str:
        return (await self.discovery.resource(ref.kind)).path(ref.key, subresource)

    async def _call(self, kind: Kind, request: Request) -> bytes:
        try:
            return (await self._transport.request(self._options.apply_to(request))).body
        except NotFound as error:
            self._raise_if_unserved(error, kind)
            raise

    def _raise_if_unserved(self, error: NotFound, kind: Kind) -> None:
        """Turns a 404 for a kind that the server does not serve into NoSuchKind."""
        if is_unserved_path(error):
            self.discovery.invalidate(kind)
            raise NoSuchKind(f"the server does not serve {kind}, or not this part of it ({error})") from error

    def _with_options(self, call_options: CallOptions) -> "Client":
        return Client(self._transport, self.discovery, call_options)


async def connect(settings: ConnectionSettings, options: "TransportOptions | None" = None) -> Client:
    """A client for the cluster in the settings; nothing is sent before the first call."""
    # Not imported at the top: short-lived commands use `transport.oneshot` and must not wait for the import of aiohttp.
    from steward.kube.transport.transport import Transport, TransportOptions

    options = options or TransportOptions()
    return client_with_transport(Transport(settings, options), settings, options.clock)


def client_with_transport(transport: ApiTransport, settings: ConnectionSettings, clock: Clock) -> Client:
    impersonation = settings.impersonation
    call_options = CallOptions(headers=impersonation.headers()) if impersonation else CallOptions()
    return Client(transport, Discovery(transport, clock), call_options)


def _effect(dry_run: bool) -> Effect:
    return Effect.READ if dry_run else Effect.WRITE
