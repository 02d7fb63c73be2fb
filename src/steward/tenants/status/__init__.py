"""Derives the status of registries, templates and Tenants.

Pure. Imports `tenants.validation`, `tenants.fleet`, `tenants.guard` and the transitions of `runtime.status`.
"""
