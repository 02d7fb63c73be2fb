"""Compares a rendered object of a Tenant with the live one: the fields that the template sets, and their live values.

The live object is read when a reader asks for it, with the reader's rights. Secrets are never read. Credentials that
the API server refuses end the session, so that error is left to the router.
"""

from __future__ import annotations

import difflib
from typing import Any, Final

import yaml

from steward.kube.client.client import Client
from steward.kube.errors import Forbidden, KubeError, NotFound, Unauthorized
from steward.kube.objects.kinds import SECRET, Key, Manifest
from steward.page.inventory.inventory import TENANT
from steward.page.models.structs import Model
from steward.page.models.tenant import resource_ref, tenant_resources

SECRET_MESSAGE: Final = "The page never reads Secrets."


class Comparison(Model, frozen=True):
    """`rendered` is YAML; `diff` is empty if the live object has all of it, `message` says why there is none."""

    rendered: str
    diff: list[str]
    message: str


async def compare_object(client: Client, key: Key, id_: str) -> Comparison | None:
    try:
        tenant = await client.get(TENANT, key)
    except Unauthorized:
        raise
    except KubeError:
        return None
    resource = tenant_resources(tenant).get(id_)
    if resource is None:
        return None
    ref, rendered = resource_ref(resource, tenant), resource.spec
    if ref.kind == SECRET:
        return Comparison("", [], SECRET_MESSAGE)
    try:
        live = await client.get(*ref)
    except NotFound:
        return Comparison(_yaml(rendered), [], f"{ref} does not exist.")
    except Forbidden:
        return Comparison(_yaml(rendered), [], f"You may not read {ref}.")
    except Unauthorized:
        raise
    except KubeError as error:
        return Comparison(_yaml(rendered), [], str(error))
    return compare(rendered, live)


def compare(rendered: Manifest, live: Manifest) -> Comparison:
    """Pure."""
    desired, found = _yaml(rendered), _yaml(project(rendered, live))
    diff = difflib.unified_diff(desired.splitlines(), found.splitlines(), "rendered", "live", lineterm="")
    lines = list(diff)
    return Comparison(desired, lines, "" if lines else "The live object has every rendered field.")


def project(rendered: Any, live: Any) -> Any:
    """The part of the live value that the rendered one has too. Lists of equal length are compared item by item."""
    if isinstance(rendered, dict) and isinstance(live, dict):
        return {name: project(value, live[name]) for name, value in rendered.items() if name in live}
    if isinstance(rendered, list) and isinstance(live, list) and len(rendered) == len(live):
        return [project(one, other) for one, other in zip(rendered, live, strict=True)]
    return live


def _yaml(value: Any) -> str:
    return yaml.safe_dump(value, sort_keys=True, allow_unicode=True, width=100)
