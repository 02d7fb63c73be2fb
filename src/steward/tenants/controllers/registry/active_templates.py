"""The templates of a registry, as they are in force: parsed once for each version."""

from collections.abc import Iterable
from hashlib import sha256

import msgspec

from steward.kube.cache.store import Store
from steward.kube.objects.kinds import Key
from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.controllers.common.context import ControllerContext
from steward.tenants.controllers.template.active_revision import in_force
from steward.tenants.errors import RenderError
from steward.tenants.rendering.render import prepare_template
from steward.tenants.rendering.tenant_manifest import TemplateInUse
from steward.tenants.views import Revision, Template

OF_REGISTRY = "templates of a registry"


class TemplatesInUse:
    def __init__(self, context: ControllerContext) -> None:
        self._templates = context.store(context.rules.template)
        self._revisions: Store[Revision] = context.store(context.rules.revision)
        self._templates.add_index(OF_REGISTRY, registry_key)
        self._parsed: dict[Key, TemplateInUse | None] = {}
        self._versions: dict[Key, str] = {}

    def referencing(self, registry: Key) -> list[Template]:
        """All of them, those included that are being deleted."""
        return self._templates.by_index(OF_REGISTRY, str(registry))

    def elsewhere(self, registry: Key, names: Iterable[str]) -> frozenset[str]:
        """Those of these names that are there and use another registry."""
        found = (self._templates.get(Key(registry.namespace, name)) for name in names)
        return frozenset(
            each.metadata.name for each in found if each is not None and registry_key(each) != [str(registry)]
        )

    def missing(self, namespace: str, names: Iterable[str]) -> frozenset[str]:
        """Those of these names that are not there: not yet, or not any more."""
        return frozenset(name for name in names if self._templates.get(Key(namespace, name)) is None)

    def inputs(self, registry: Key) -> object:
        """Changes whenever another read of the table may give other Tenants."""
        return tuple(sorted(map(self._input, self.referencing(registry))))

    def _input(self, template: Template) -> tuple[str, int, bool]:
        meta = template.metadata
        current = in_force(self._revisions, meta)
        return meta.uid, current.revision if current else 0, meta.deletion_timestamp is not None

    def usable(self, registry: Key, profile: str) -> list[TemplateInUse]:
        """Those that rows are rendered with: in force, and not on their way out."""
        found = [
            self._in_use(template, profile)
            for template in self.referencing(registry)
            if template.metadata.deletion_timestamp is None
        ]
        return [each for each in found if each is not None]

    def _in_use(self, template: Template, profile: str) -> TemplateInUse | None:
        key = Key(template.metadata.namespace, template.metadata.name)
        current = in_force(self._revisions, template.metadata)
        version = "" if current is None else f"{current.metadata.uid}/{profile}"
        if self._versions.get(key) != version:
            self._versions[key] = version
            self._parsed[key] = None if current is None else _parsed(key.name, current, profile)
        return self._parsed[key]

    def forget(self, key: Key) -> None:
        self._parsed.pop(key, None)
        self._versions.pop(key, None)


def _parsed(name: str, revision: Revision, profile: str) -> TemplateInUse | None:
    """None where it cannot be used after all, as when its registry has since forbidden a function of it."""
    try:
        spec = msgspec.convert(revision.data, TenantTemplateSpec)
        prepared = prepare_template(spec, profile)
    except (msgspec.ValidationError, RenderError):
        return None
    version = sha256(
        f"{revision.revision}/{profile}/".encode() + msgspec.json.encode(revision.data)
    ).hexdigest()
    return TemplateInUse(name, revision.revision, version, spec, prepared, profile == "hermetic")


def registry_key(template: Template) -> list[str]:
    return [str(Key(template.metadata.namespace, str(template.spec.get("registryId", ""))))]
