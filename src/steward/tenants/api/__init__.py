"""The three kinds of `operator.kubernetes-tenants.org/v1`: types, bounds and descriptions. Pure."""
