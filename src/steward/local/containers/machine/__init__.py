"""What a cluster with containers needs of the machine, makes on it, and removes from it.

    facts, preconditions                         what the machine has; sentences about what is missing
    record                                       what was made and changed, for the removal after any crash
    firewall, iptables, sysctls, cgroups         rules, kernel settings, cgroups
    leftovers                                    processes that outlive their containerd
    preparation                                  all of it, in order

Imports `containers.names`, `containers.network`, `containers.nodes`, `containers.assembly` and `containers.programs`.
"""
