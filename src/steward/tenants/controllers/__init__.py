"""The controllers of registries, templates and Tenants: each reads, observes, plans, executes and reports."""
