"""What the tenants controllers share: context, document caches, child watches, the cascade guard.

Imports the pure packages of `tenants` and `runtime`.
"""
