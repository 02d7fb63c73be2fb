"""Builds the control plane's programs from source and keeps them in the cache.

Imports `local.errors`, `local.locks`, `local.paths` and `local.progress`.
"""
