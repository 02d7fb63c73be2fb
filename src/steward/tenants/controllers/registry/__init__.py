"""The TenantRegistry controller: reads the table, asks the guard, writes Tenants.

Imports `tenants.controllers.common`.
"""
