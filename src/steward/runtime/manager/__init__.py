"""One operator process: settings, leader election, clients, start and stop.

Imports `kube` and the other packages of `runtime`.
"""
