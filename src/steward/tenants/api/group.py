"""The API group, its version, and the metadata of its kinds."""

from steward.tenants.api.scalars import Part

GROUP = "operator.kubernetes-tenants.org"
VERSION = "v1"
API_VERSION = f"{GROUP}/{VERSION}"


class Metadata(Part):
    """Standard object metadata: the API server validates it, the schema adds nothing."""
