"""The topology controller: keeps records of cells and databases in etcd.

Imports `multigres.controllers.common`.
"""
