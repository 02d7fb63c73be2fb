"""What an installation of Steward consists of, as objects. Pure: values in, manifests out.

`steward install`, the kustomize files in `config/` and the tests of the Helm chart all come from here, so that they
cannot tell different stories.
"""
