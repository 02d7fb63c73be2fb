"""What templates see of a row. All texts: a row's values are data, whatever they look like.

A variable of `extraValueMappings` wins over a built-in of its name, as it always has.
"""

from typing import Final

from steward.gotemplate import parse
from steward.tenants.sources.rows import Row

_HOST: Final = "{{ toHost . }}"
_MASK: Final = "***"
BUILT_IN: Final = ("uid", "hostOrUrl", "host", "activate", "registryId", "templateRef", "hubId")

Variables = dict[str, str]


def variables_of(row: Row, registry: str, template: str) -> Variables:
    return {
        "uid": row.uid,
        "hostOrUrl": row.host_or_url,
        "host": host_of(row.host_or_url),
        "activate": row.activate,
        "registryId": registry,
        "templateRef": template,
        "hubId": registry,
        **row.extra,
    }


def masked(variables: Variables) -> Variables:
    """For the log: which variables a template saw and which of them were empty, but no value. Not even of those that
    Steward makes: a column may be mapped over them."""
    return {name: _MASK if value else "" for name, value in variables.items()}


def host_of(host_or_url: str) -> str:
    return parse(_HOST, "host", functions="tenants").render(host_or_url) if host_or_url else ""
