"""All Tenants of a registry together: counts, index, rollout of a template change.

Imports `tenants.guard` and `tenants.api`.
"""
