"""The TenantTemplate controller.

Imports `tenants.controllers.common`.
"""
