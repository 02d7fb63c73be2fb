"""The three kinds, in the order in which users need them."""

from steward.kube.crd.schema import CustomKind
from steward.tenants.api import registry, template, tenant

CUSTOM_KINDS: tuple[CustomKind, ...] = (registry.CUSTOM_KIND, template.CUSTOM_KIND, tenant.CUSTOM_KIND)
