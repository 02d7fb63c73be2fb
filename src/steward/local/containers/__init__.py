"""Real nodes on this machine: kubelets, containerd, kube-proxy and CoreDNS, for `steward up --containers`.

In the order of a start:

    names                                        names of what is made on the machine
    network, nodes, assembly                     addresses, nodes, and what command lines depend on
    packages, programs                           containerd and its like, installed or unpacked from packages
    machine/                                     preconditions, bridge, rules, cgroups, and their removal
    containerd, kubelet, proxy, dns, components  configuration files and command lines
    mount_namespace, namespaces                  starts programs in mount namespaces
    health, node_images, footprint               readiness, images of the nodes, the list before the first start
    cluster                                      what the control plane calls

Imports the modules of `local` that the control plane is made of, but not `local.control_plane`.
"""
