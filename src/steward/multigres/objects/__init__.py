"""Builds Kubernetes objects from resolved specs, one module per component; `tree` composes them. Pure.

Manifests are complete, including the API server's defaults inside atomic values (a fieldRef's apiVersion, a volume's
defaultMode): the fewer fields the API server adds, the easier it is to detect edits by users.
Imports `multigres.api`, `multigres.resolution` and `multigres.views`.
"""
