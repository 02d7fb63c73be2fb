"""Defaulting and validation of registries and templates, shared by webhooks, controllers and `steward lint`.

Pure. Imports `tenants.rendering`, `tenants.objects`, `tenants.sources` and `gotemplate`.
"""
