"""Kinds and fields of other operators that users bring along: Lynq, and later versions of multigres-operator. Pure.

Steward serves the API that both had before: their manifests look right, and a server would only say that there is no
such kind or field.
"""

from __future__ import annotations

import re
from typing import Final

TENANTS_VERSION: Final = "operator.kubernetes-tenants.org/v1"
_LYNQ_GROUP: Final = "operator.lynq.sh/"
_LYNQ_KINDS: Final = {
    "LynqHub": "write a TenantRegistry",
    "LynqForm": "write a TenantTemplate, whose hubId is called registryId",
    "LynqNode": "leave it out: Tenants are made from the rows",
}
_OTHER_NAMES: Final = {
    "hubId": "registryId",
    "zoneId": "zone",
    "multigateway": "multiGateway",
}
"""Names of fields at other operators, and here. Only a field that does not exist here is looked up."""
_MISSING_FIELDS: Final = frozenset(
    {
        "certCommonName",
        "externalAdminWeb",
        "imageUpdatePolicy",
        "internalTLS",
        "multigatewayPlacement",
        "placement",
        "postgresSuperuser",
        "topologyPruning",
    }
)

_OTHER_PLACES: Final = (
    (
        re.compile(r"\.(postgres|multipooler)\.resources$"),
        "there is no such field: write requests and limits without it",
    ),
    (re.compile(r"^spec\.multiadmin(Web)?\.(replicas|resources)$"), "belongs below spec of this field here"),
)


def foreign_kind(api_version: str, kind: str) -> str:
    """The sentence for a kind of another operator; empty for any other."""
    if not api_version.startswith(_LYNQ_GROUP):
        return ""
    cure = _LYNQ_KINDS.get(kind, f"see which kinds {TENANTS_VERSION} has")
    return f"{kind} is a kind of Lynq, and Steward has {TENANTS_VERSION}: {cure}"


def foreign_field(field: str) -> str:
    """The sentence for a field of another operator, named with its path; empty for any other."""
    name = field.rpartition(".")[2]
    if name in _OTHER_NAMES:
        return f"there is no such field: it is called {_OTHER_NAMES[name]} here"
    if name in _MISSING_FIELDS:
        return "is a field of later versions of multigres-operator that Steward does not have: take it out"
    return next((cure for pattern, cure in _OTHER_PLACES if pattern.search(field)), "")
