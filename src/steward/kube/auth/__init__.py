"""Authenticates to an API server: tokens, client certificates, exec plugins, impersonation.

Imports `kube.objects`.
"""
