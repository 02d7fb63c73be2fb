"""Authenticates to an API server: tokens, passwords, client certificates, exec plugins.

Imports `kube.config`.
"""
