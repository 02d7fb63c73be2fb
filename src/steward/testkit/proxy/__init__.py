"""A fault proxy between a client and an API server, scripted by rules.

Imports `kube.clock` and, for its own server certificate, `certificates`; not the client that tests run against it.
"""
