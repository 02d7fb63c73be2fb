"""A Kubernetes client library. Imports nothing else of Steward, except `library_patches`.

In the order of a request: `config` finds the cluster and the credentials, `client` turns a verb into a request for the
path that discovery found, `transport` sends it with the credentials of `auth`, and failures are raised as `errors`.
In the other direction, `cache` lists and watches objects into stores. `apply` is server-side apply that sends only
changes, with the help of `managed_fields`. `objects` has the API types, `crd` generates CustomResourceDefinitions.
"""
