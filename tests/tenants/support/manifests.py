"""Manifests that users write, as small as they can be."""

from typing import Any

from steward.tenants.api.group import API_VERSION

Manifest = dict[str, Any]

CONFIG_MAP: Manifest = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"host": "{{ .host }}"}}
MYSQL: Manifest = {
    "host": "db",
    "username": "reader",
    "passwordRef": {"name": "db", "key": "password"},
    "database": "saas",
    "table": "customers",
}


def registry(name: str = "prod", **spec: Any) -> Manifest:
    whole = {
        "source": {"type": "mysql", "syncInterval": "30s", "mysql": MYSQL},
        "valueMappings": {"uid": "id", "hostOrUrl": "url", "activate": "active"},
        **spec,
    }
    return {"apiVersion": API_VERSION, "kind": "TenantRegistry", "metadata": {"name": name}, "spec": whole}


def resource(resource_id: str = "config", **fields: Any) -> Manifest:
    return {"id": resource_id, "nameTemplate": "{{ .uid }}-config", "spec": CONFIG_MAP, **fields}


def template(name: str = "web-app", **spec: Any) -> Manifest:
    whole = {"registryId": "prod", "configMaps": [resource()], **spec}
    return {"apiVersion": API_VERSION, "kind": "TenantTemplate", "metadata": {"name": name}, "spec": whole}


def tenant(name: str = "acme-web-app", **spec: Any) -> Manifest:
    whole = {"uid": "acme", "templateRef": "web-app", "configMaps": [resource()], **spec}
    return {"apiVersion": API_VERSION, "kind": "Tenant", "metadata": {"name": name}, "spec": whole}
