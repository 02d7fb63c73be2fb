"""The TenantRegistry controller: reads the table, asks the guard, writes Tenants.

Imports `tenants.controllers.common`, and from `tenants.controllers.template` the active revision and the recorded
rollout of a template.
"""
