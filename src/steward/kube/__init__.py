"""Speaks to a Kubernetes API server, and knows nothing else of Steward.

In the order in which a call travels: `config` finds the cluster and the credentials (`kubeconfig`,
`in_cluster`), `client` turns a verb into a request for the path that `discovery` knows, and `transport` carries it
(`tls`, `credentials`, `exec_plugin`, `proxy`, `limits`, `retry`), raising the tree of `errors`. The other direction
is `watch`, `store` and `cache`; `apply` writes only what differs; `lease` elects.
"""
