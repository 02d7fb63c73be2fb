"""Defaulting and validation of registries and templates, shared by webhooks, controllers and `steward lint`.

Pure. Imports `tenants.rendering` and `tenants.objects`.
"""
