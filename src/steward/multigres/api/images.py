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


class UsedImages(ApiStruct):
    """Images that a cluster runs, whether its spec names them or the operator's version does."""

    multigateway: str | Unset = UNSET
    """Image of the gateways."""
    multiorch: str | Unset = UNSET
    """Image of the orchestrators."""
    multipooler: str | Unset = UNSET
    """Image of the poolers."""
    multiadmin: str | Unset = UNSET
    """Image of multiadmin."""
    multiadmin_web: str | Unset = UNSET
    """Image of multiadmin-web."""
    postgres: str | Unset = UNSET
    """Image of the Postgres servers."""
    etcd: str | Unset = UNSET
    """Image of the global topology server, if the operator runs it."""
