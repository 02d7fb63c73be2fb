"""The API group, its version, and the metadata of all its kinds."""

from steward.multigres.api.scalars import ApiStruct

GROUP = "multigres.com"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"


class Metadata(ApiStruct):
    """Names, labels and so on: checked by the API server, not restricted by the schema."""
