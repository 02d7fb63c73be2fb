"""The active revisions of a registry's templates, parsed once for each version."""

from collections.abc import Iterable
from hashlib import sha256
from typing import NamedTuple

import msgspec

from steward.kube.bounded_cache import LruCache
from steward.kube.cache.store import Store
from steward.kube.objects.kinds import Key
from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.controllers.common.context import TenantsContext
from steward.tenants.controllers.template.active_revision import active_revision
from steward.tenants.errors import RenderError
from steward.tenants.rendering.prepared_template import prepare_template
from steward.tenants.rendering.tenant_manifest import ActiveTemplate
from steward.tenants.status.pause import is_paused
from steward.tenants.views import Revision, Template

BY_REGISTRY = "templates of a registry"

TEMPLATES_CACHED = 1000


class _ParsedTemplate(NamedTuple):
    version: str
    template: ActiveTemplate | None
    """None if there is no active revision, or it cannot be parsed."""


class ActiveTemplates:
    def __init__(self, context: TenantsContext) -> None:
        self._templates = context.store(context.rules.template)
        self._revisions: Store[Revision] = context.store(context.rules.revision)
        self._templates.add_index(BY_REGISTRY, registry_index_values)
        self._parsed: LruCache[Key, _ParsedTemplate] = LruCache(TEMPLATES_CACHED)

    def templates_of(self, registry: Key) -> list[Template]:
        """All templates of the registry, terminating ones included."""
        return self._templates.by_index(BY_REGISTRY, str(registry))

    def using_other_registry(self, registry: Key, names: Iterable[str]) -> frozenset[str]:
        """The names of templates that exist and use another registry."""
        found = (self._templates.get(Key(registry.namespace, name)) for name in names)
        return frozenset(
            each.metadata.name
            for each in found
            if each is not None and registry_index_values(each) != [str(registry)]
        )

    def missing(self, namespace: str, names: Iterable[str]) -> frozenset[str]:
        """The names of templates that do not exist (yet)."""
        return frozenset(name for name in names if self._templates.get(Key(namespace, name)) is None)

    def paused(self, registry: Key) -> frozenset[str]:
        """The names of templates whose Tenants are neither written nor deleted."""
        found = (each for each in self.templates_of(registry) if is_paused(each.spec))
        return frozenset(each.metadata.name for each in found)

    def version(self, registry: Key) -> object:
        """Changes whenever the same rows may make other Tenants."""
        return tuple(sorted(map(self._template_version, self.templates_of(registry))))

    def _template_version(self, template: Template) -> tuple[str, int, bool, bool]:
        meta = template.metadata
        current = active_revision(self._revisions, meta)
        is_terminating = meta.deletion_timestamp is not None
        return meta.uid, current.revision if current else 0, is_terminating, is_paused(template.spec)

    def active(self, registry: Key, profile: str) -> list[ActiveTemplate]:
        """The templates that rows are rendered with: those with an active revision that are neither terminating nor
        paused."""
        found = [
            self._parse(template, profile)
            for template in self.templates_of(registry)
            if template.metadata.deletion_timestamp is None and not is_paused(template.spec)
        ]
        return [each for each in found if each is not None]

    def _parse(self, template: Template, profile: str) -> ActiveTemplate | None:
        key = Key(template.metadata.namespace, template.metadata.name)
        current = active_revision(self._revisions, template.metadata)
        version = "" if current is None else f"{current.metadata.uid}/{profile}"
        parsed = self._parsed.get(key)
        if parsed is None or parsed.version != version:
            active = None if current is None else _parse_revision(key.name, current, profile)
            parsed = _ParsedTemplate(version, active)
            self._parsed.set(key, parsed)
        return parsed.template


def _parse_revision(name: str, revision: Revision, profile: str) -> ActiveTemplate | None:
    """None if it cannot be used, for example because the registry has since forbidden a function that it calls."""
    try:
        spec = msgspec.convert(revision.data, TenantTemplateSpec)
        prepared = prepare_template(spec, profile)
    except (msgspec.ValidationError, RenderError):
        return None
    version = sha256(
        f"{revision.revision}/{profile}/".encode() + msgspec.json.encode(revision.data)
    ).hexdigest()
    is_repeatable = all(each.is_repeatable or each.is_rendered_once for each in prepared)
    return ActiveTemplate(name, revision.revision, version, spec, prepared, is_repeatable)


def registry_index_values(template: Template) -> list[str]:
    return [str(Key(template.metadata.namespace, str(template.spec.get("registryId", ""))))]
