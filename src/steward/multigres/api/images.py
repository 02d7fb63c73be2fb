"""What runs. Set once for the whole cluster, so that no two versions meet."""

from steward.multigres.api.scalars import UNSET, Image, Part, PullPolicy, PullSecrets, Unset


class Images(Part):
    """Images of every component, and how nodes pull them."""

    image_pull_policy: PullPolicy | Unset = UNSET
    """When nodes pull; reaches every pod."""
    image_pull_secrets: PullSecrets | Unset = UNSET
    """Secrets to pull with, each `name: …`; reach every pod."""
    multigateway: Image | Unset = UNSET
    """Image of the gateways."""
    multiorch: Image | Unset = UNSET
    """Image of the orchestrators."""
    multipooler: Image | Unset = UNSET
    """Image of the poolers."""
    multiadmin: Image | Unset = UNSET
    """Image of multiadmin."""
    multiadmin_web: Image | Unset = UNSET
    """Image of multiadmin's web page."""
    postgres: Image | Unset = UNSET
    """Image of the Postgres servers."""
