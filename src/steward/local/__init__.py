"""A real Kubernetes control plane on this machine, used by `steward up` and by the tests.

In the order of a start:

    programs/                                        builds etcd, Kubernetes and kwok with Go and caches them
    settings, paths, locks, state, endpoint          the directory of a cluster, its lock, its ports
    certificates, ports, components, kwok/           keys, ports, command lines and configuration of the components
    processes, exec_shim, health                     starts the components, finds them again, waits for readiness
    bootstrap/                                       creates the nodes and storage classes
    control_plane                                    start, stop, purge, find

On top of it, for `steward up`:

    service_accounts, installation                   CRDs, accounts and permissions of the operators, webhooks
    operators                                        the operators and the fake data plane, as processes
    sample/                                          a sample cluster, and a table of customers with its registry
"""
