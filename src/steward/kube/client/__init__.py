"""Typed verbs on API objects: get, list, watch, apply, patch, delete; discovery and leases.

Imports `kube.transport`, `kube.config` and `kube.objects`.
"""
