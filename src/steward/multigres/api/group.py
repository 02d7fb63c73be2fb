"""The API group, its version, and what all its kinds have in common."""

from steward.multigres.api.scalars import Part

GROUP = "multigres.com"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"


class Metadata(Part):
    """Names, labels and the like: the server checks them, the schema adds nothing."""
