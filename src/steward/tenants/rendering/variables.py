"""The variables that templates can use for a row. All are texts: values of a row are data, whatever they look like.
Pure.

A variable of `extraValueMappings` overrides a built-in one of the same name, as in the Go operator.
"""

from typing import Final

from steward.gotemplate import TemplateError, parse
from steward.tenants.errors import TooLarge
from steward.tenants.sources.rows import Row

_HOST: Final = "{{ toHost . }}"
_MASK: Final = "***"
BUILT_IN: Final = ("uid", "hostOrUrl", "host", "activate", "registryId", "templateRef", "hubId")

Variables = dict[str, str]


def row_variables(row: Row, registry: str, template: str) -> Variables:
    """TooLarge if finding the host takes too long."""
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


def mask_values(variables: Variables) -> Variables:
    """For the log: the names of the variables and which of them are empty, but no value. Built-in variables are masked
    too: a column may be mapped to their names."""
    return {name: _MASK if value else "" for name, value in variables.items()}


def host_of(host_or_url: str) -> str:
    if not host_or_url:
        return ""
    try:
        return parse(_HOST, "host", functions="tenants").render(host_or_url)
    except TemplateError:
        message = f"its hostOrUrl has {len(host_or_url)} characters, too many to find the host: shorten it"
        raise TooLarge("hostOrUrl", message) from None
