"""Provisions volumes as directories of this machine, for clusters with containers.

    views, classes           what the provisioner reads; the storage classes that name it
    decisions                what a claim or a volume needs. Pure
    directories              directories of volumes
    controllers, process     two controllers on caches of claims, volumes and classes

Imports `kube` and `runtime`.
"""
