"""The Tenant controller: applies, observes and deletes the objects of one Tenant.

Imports `tenants.controllers.common`.
"""
