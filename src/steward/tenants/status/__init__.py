"""Derives the status of registries, templates and Tenants.

Pure. Imports `tenants.objects` and `tenants.fleet`.
"""
