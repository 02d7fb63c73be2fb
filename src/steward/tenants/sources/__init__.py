"""From a table to tenants: one protocol for sources, and what a row must be to become a Tenant."""
