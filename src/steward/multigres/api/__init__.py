"""The API group multigres.com/v1alpha1: one file a kind, and the parts that kinds share."""
