"""Renders a template with a row to the objects of a Tenant.

Pure. Imports `tenants.api`, `tenants.sources.rows` and `gotemplate`.
"""
