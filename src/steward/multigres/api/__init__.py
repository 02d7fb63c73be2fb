"""The API group multigres.com/v1alpha1: one module per kind, and the types that kinds share.

Imports `kube.crd`.
"""
