"""An HTTP server that any pod of the cluster can reach, and its limits on connections, time and bytes.

The webhook, metrics and probes servers use it. It imports nothing of Steward.
"""
