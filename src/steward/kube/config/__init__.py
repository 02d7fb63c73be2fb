"""Finds out how to connect to an API server: kubeconfig files, in-cluster files, proxies.

Imports `kube.auth` and `kube.objects`.
"""
