"""Finds out how to connect to an API server: kubeconfig files, in-cluster files, proxies.

Imports only `kube.errors`.
"""
