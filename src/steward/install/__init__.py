"""The manifests of an installation. Pure: values in, manifests out.

`steward install`, the kustomize files in `config/` and the Helm chart are generated from here, so that they are equal.
"""
