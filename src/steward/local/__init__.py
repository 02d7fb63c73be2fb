"""A real Kubernetes control plane on this machine. `steward up` and the tests both stand on it.

From nothing to a ready cluster, in the order in which it happens:

    programs, toolchain, compilation, binaries   what is built, with which Go, how, and where it is kept
    settings, places, disk, locks, state         what a cluster's directory is, and taking turns in it
    certificates, ports, components, stages      everything the components are told: keys, ports, flags, files
    launch, processes, health                    starting them so that nothing runs unknown, and waiting for them
    cluster, api, set_up                         nodes and storage classes
    control_plane                                start, stop, purge, find

And on top of it, for the first five minutes:

    identities, installation                     definitions, the operators' accounts and rights, webhooks
    residents                                    the operators and the data plane's stand-in, as processes
    customers, sample                            a table of a dozen customers, a database, and what they become
"""
