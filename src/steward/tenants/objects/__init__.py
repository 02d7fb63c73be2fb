"""Rules for one object of a Tenant: dependencies, ownership, ignored fields, orphans, permissions.

Pure. Imports `tenants.api` and `tenants.rendering`.
"""
