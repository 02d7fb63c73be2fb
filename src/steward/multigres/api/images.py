"""Images. Set once for the whole cluster, so that all components have matching versions."""

from steward.multigres.api.scalars import UNSET, ApiStruct, Image, PullPolicy, PullSecrets, Unset


class Images(ApiStruct):
    """Images of every component, and how nodes pull them."""

    image_pull_policy: PullPolicy | Unset = UNSET
    """When nodes pull images; applies to every pod."""
    image_pull_secrets: PullSecrets | Unset = UNSET
    """Secrets for pulling images, each `name: …`; apply to every pod."""
    multigateway: Image | Unset = UNSET
    """Image of the gateways."""
    multiorch: Image | Unset = UNSET
    """Image of the orchestrators."""
    multipooler: Image | Unset = UNSET
    """Image of the poolers."""
    multiadmin: Image | Unset = UNSET
    """Image of multiadmin."""
    multiadmin_web: Image | Unset = UNSET
    """Image of multiadmin-web."""
    postgres: Image | Unset = UNSET
    """Image of the Postgres servers."""
