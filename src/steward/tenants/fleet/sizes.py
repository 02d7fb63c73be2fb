"""Counts of the Tenants of registries and templates, kept with every change of a Tenant.

While Tenants are written, their registry and their template report these counts every second or two. Rejected: counting
all Tenants for each report. The edit of a template takes longer in a larger fleet, so there are more reports, and each
would cost more: the processor time of the edit would grow with the square of the fleet.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from steward.tenants.fleet.fleet import TenantCounts, count_tenant, is_terminating
from steward.tenants.views import Tenant


class FleetSizes(NamedTuple):
    counts: TenantCounts
    by_template: Mapping[str, int]
    """The number of Tenants of each template, without terminating ones."""


class SizesByValue:
    """The sizes of the fleets that an index function makes: all Tenants with one index value are a fleet."""

    def __init__(self, index_values: Callable[[Tenant], Iterable[str]]) -> None:
        self._index_values = index_values
        self._counts: dict[str, TenantCounts] = {}
        self._by_template: dict[str, Counter[str]] = {}

    def __getitem__(self, value: str) -> FleetSizes:
        return FleetSizes(self._counts.get(value, TenantCounts()), dict(self._by_template.get(value, {})))

    def observe(self, old: Tenant | None, new: Tenant | None) -> None:
        """A Tenant before and after a change."""
        if old is not None:
            self._remove(old)
        if new is not None:
            self._add(new)

    def _add(self, tenant: Tenant) -> None:
        for value in self._index_values(tenant):
            self._counts[value] = self._counts.get(value, TenantCounts()).plus(count_tenant(tenant))
            if not is_terminating(tenant):
                self._by_template.setdefault(value, Counter())[tenant.spec.template_ref] += 1

    def _remove(self, tenant: Tenant) -> None:
        for value in self._index_values(tenant):
            self._counts[value] = self._counts[value].minus(count_tenant(tenant))
            if not self._counts[value].total:
                del self._counts[value]
            if not is_terminating(tenant):
                self._remove_of_template(value, tenant.spec.template_ref)

    def _remove_of_template(self, value: str, template: str) -> None:
        sizes = self._by_template[value]
        sizes[template] -= 1
        if not sizes[template]:
            del sizes[template]
        if not sizes:
            del self._by_template[value]
