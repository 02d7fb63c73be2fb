"""Sends HTTP requests to an API server: connection pool, retries, rate limit, error mapping.

Imports `kube.config`, `kube.auth` and `library_patches`.
"""
