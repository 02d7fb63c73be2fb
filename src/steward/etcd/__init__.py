"""Client of etcd, for the topology of multigres clusters.

Imports nothing of Steward.
"""
