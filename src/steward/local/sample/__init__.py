"""The sample of `steward up`: its manifests and its table.

Imports `local.errors`.
"""
