"""The API group, its version, and what all its kinds have in common."""

from steward.tenants.api.scalars import Part

GROUP = "operator.kubernetes-tenants.org"
VERSION = "v1"
API_VERSION = f"{GROUP}/{VERSION}"


class Metadata(Part):
    """Names, labels and the like: the server checks them, the schema adds nothing."""
