"""API object types and their pure rules: kinds, metadata, conditions, quantities, patches, readiness.

Pure. Imports only `kube.errors`.
"""
