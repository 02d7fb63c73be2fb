"""The desired state of a fleet's life: rows, templates and limits. Edits change it, manifests follow from it. Pure."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from steward.tenants.api.group import API_VERSION
from tests.chaos.story import Edit

Manifest = dict[str, Any]

REGISTRY = "prod"
FIRST_TEMPLATE = "web"
PASSWORD_SECRET = "db"
ONCE, RETAINED, AUTOSCALED = "once", "retained", "autoscaled"
SECRET_MARK = "rowsecret"
MAX_LENGTH = 1 << 20


class Row(NamedTuple):
    uid: str
    plan: str = "basic"
    active: bool = True
    host_length: int = 0
    """Characters added to the host; a row whose host is too long is rejected."""

    @property
    def values(self) -> tuple[str, str, str, str, str]:
        url = f"https://{self.uid}{'x' * self.host_length}.example.com"
        return self.uid, url, "1" if self.active else "0", self.plan, f"{SECRET_MARK}-{self.uid}"


def _first_rows() -> dict[str, Row]:
    return {f"t{number}": Row(f"t{number}") for number in range(1, 7)}


def _first_templates() -> dict[str, Manifest]:
    return {FIRST_TEMPLATE: {"version": 1, "features": ["deployment", "secret"]}}


@dataclass
class FleetModel:
    rows: dict[str, Row] = field(default_factory=_first_rows)
    templates: dict[str, Manifest] = field(default_factory=_first_templates)
    guard: dict[str, Any] = field(default_factory=dict)
    is_broken: bool = False
    """Templates use a variable that does not exist; the user repairs them at the end."""
    steady: set[str] = field(init=False)
    """Uids that were active all the time: their Tenants are never deleted."""

    def __post_init__(self) -> None:
        self.steady = set(self.active())

    def apply(self, edit: Edit) -> None:
        match edit.field:
            case "row":
                self._edit_row(edit.key, edit.value)
            case "template" if edit.value is not None or edit.key != FIRST_TEMPLATE:
                _set_or_remove(self.templates, edit.key, edit.value)
            case "broken":
                self.is_broken = edit.value
            case "guard":
                _set_or_remove(self.guard, edit.key, edit.value)
        self.steady &= self.active()

    def active(self) -> set[str]:
        return {uid for uid, row in self.rows.items() if row.active}

    def valid(self) -> set[str]:
        """Uids of the rows that become Tenants."""
        return {uid for uid in self.active() if self.rows[uid].host_length < MAX_LENGTH}

    def _edit_row(self, uid: str, value: Manifest | None) -> None:
        if value is None:
            self.rows.pop(uid, None)
        else:
            self.rows[uid] = Row(uid, **value)

    def manifests(self, source: Manifest) -> list[Manifest]:
        """The registry and the templates, in the order in which a user applies them."""
        registry: Manifest = {
            "source": source,
            "valueMappings": {"uid": "id", "hostOrUrl": "url", "activate": "active"},
            "extraValueMappings": {"plan": "plan", "token": "token"},
        }
        if self.guard:
            registry["deletionGuard"] = self.guard
        templates = [
            _manifest("TenantTemplate", name, {"registryId": REGISTRY, **_resources(name, **template)})
            for name, template in self.templates.items()
        ]
        for template in templates if self.is_broken else ():
            template["spec"]["configMaps"][0]["spec"]["data"]["broken"] = "{{ .missing }}"
        return [_manifest("TenantRegistry", REGISTRY, registry), *templates]


def _manifest(kind: str, name: str, spec: Manifest) -> Manifest:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}


def _set_or_remove(entries: dict[str, Any], key: str, value: Any) -> None:
    if value is None:
        entries.pop(key, None)
    else:
        entries[key] = value


def _resources(template: str, version: int, features: list[str]) -> Manifest:
    chosen = set(features)
    maps = [_config_map(template, "config", version)]
    if "gold" in chosen:
        maps.append(_config_map(template, "gold", version, when='{{ eq .plan "gold" }}'))
    if ONCE in chosen:
        maps.append(_config_map(template, ONCE, version, creationPolicy="Once"))
    if RETAINED in chosen:
        maps.append(_config_map(template, RETAINED, version, deletionPolicy="Retain"))
    found: Manifest = {"configMaps": maps}
    if "secret" in chosen:
        found["secrets"] = [_resource(template, "secret", _secret())]
    if "deployment" in chosen:
        found["deployments"] = [
            _resource(template, "app", _deployment(template, version), dependIds=["config"])
        ]
    if AUTOSCALED in chosen:
        ignored = {"ignoreFields": ["$.spec.replicas"], "dependIds": ["config"]}
        found.setdefault("deployments", []).append(
            _resource(template, AUTOSCALED, _deployment(f"{template}-{AUTOSCALED}", version), **ignored)
        )
    if "service" in chosen:
        found["services"] = [_resource(template, "service", _service(template))]
    return found


def _resource(template: str, id_: str, spec: Manifest, **fields: Any) -> Manifest:
    return {"id": id_, "nameTemplate": f"{{{{ .uid }}}}-{template}-{id_}", "spec": spec, **fields}


def _config_map(template: str, id_: str, version: int, **fields: Any) -> Manifest:
    data = {"host": "{{ .host }}", "plan": "{{ .plan }}", "version": str(version)}
    return _resource(template, id_, {"apiVersion": "v1", "kind": "ConfigMap", "data": data}, **fields)


def _secret() -> Manifest:
    return {"apiVersion": "v1", "kind": "Secret", "stringData": {"token": "{{ .token }}"}}


def _deployment(name: str, version: int) -> Manifest:
    labels = {"app": f"{{{{ .uid }}}}-{name}"}
    container = {"name": "app", "image": f"registry.example.com/app:{version}"}
    replicas = '{{ if eq .plan "gold" }}{{ int 2 }}{{ else }}{{ int 1 }}{{ end }}'
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


def _service(template: str) -> Manifest:
    ports = [{"name": "http", "port": 80, "targetPort": 8080}]
    selector = {"app": f"{{{{ .uid }}}}-{template}"}
    return {"apiVersion": "v1", "kind": "Service", "spec": {"selector": selector, "ports": ports}}
