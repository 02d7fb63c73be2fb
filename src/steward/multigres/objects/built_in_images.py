"""Images of components for which the user names none, by version of the pods. Pure.

A release with other images adds an entry for a new version (`versions.py`). Clusters run the images of their version
until they move to that one, as their update policy says; `status.images` of a cluster names what it runs.
"""

from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.images import Images
from steward.multigres.api.scalars import UNSET
from steward.multigres.api.unset import or_default
from steward.multigres.objects.versions import FIRST
from steward.multigres.resolution import defaults
from steward.multigres.resolution.layers import BUILT_IN
from steward.multigres.resolution.resolved import ResolvedCluster, ResolvedTopo

COMPONENTS: Final = ("multigateway", "multiorch", "multipooler", "multiadmin", "multiadmin_web", "postgres")
ETCD_PATH: Final = ("globalTopoServer", "etcd", "image")


class BuiltInImages(NamedTuple):
    """The images from one version of the pods on."""

    since: int
    images: Images
    etcd: str


RELEASED: Final = (BuiltInImages(FIRST, defaults.IMAGES, defaults.ETCD_IMAGE),)
"""In the order of versions; the last entry has the images of `defaults`."""


def built_in_images(version: int, released: tuple[BuiltInImages, ...] = RELEASED) -> BuiltInImages:
    return next(each for each in reversed(released) if each.since <= version)


def with_images_of(
    built_in: BuiltInImages, spec: MultigresClusterSpec, resolved: ResolvedCluster
) -> ResolvedCluster:
    """The cluster with these images where the user names none; resolution uses those of the newest version."""
    written = or_default(spec.images, Images())
    changes = {
        component: getattr(built_in.images, component)
        for component in COMPONENTS
        if getattr(written, component) is UNSET
    }
    topo = _with_etcd_image(resolved, built_in.etcd)
    return resolved._replace(images=replace(resolved.images, **changes), topo=topo)


def _with_etcd_image(resolved: ResolvedCluster, image: str) -> ResolvedTopo:
    etcd = resolved.topo.etcd
    if etcd is None or etcd.image == image or resolved.origins.get(ETCD_PATH) != BUILT_IN:
        return resolved.topo
    return resolved.topo._replace(etcd=replace(etcd, image=image))


def images_in_use(spec: MultigresClusterSpec, resolved: ResolvedCluster, version: int) -> dict[str, Any]:
    """The images of each component, as `status.images` names them."""
    used = with_images_of(built_in_images(version), spec, resolved)
    images = {component: getattr(used.images, component) for component in COMPONENTS}
    images["multiadminWeb"] = images.pop("multiadmin_web")
    etcd = used.topo.etcd
    return images if etcd is None else {**images, "etcd": etcd.image}
