"""Rules for one object of a Tenant: dependencies, ownership, ignored fields, orphans, permissions, pods.

Pure. Imports `tenants.api` and `tenants.rendering`.
"""
