"""Metrics, probes, logs and traces of an operator process.

Imports `kube` and `certificates`.
"""
