"""The sample of `steward up`: its manifests and its table of customers.

Imports `kube` and `local.errors`.
"""
