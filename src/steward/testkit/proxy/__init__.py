"""A fault proxy between a client and an API server, scripted by rules.

Imports `kube` only.
"""
