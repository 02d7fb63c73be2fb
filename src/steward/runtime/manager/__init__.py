"""One operator process: settings, leader election, clients, start and stop.

Imports all of `runtime`.
"""
