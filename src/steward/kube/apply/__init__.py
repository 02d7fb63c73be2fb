"""Server-side apply that sends nothing when nothing would change, and repairs what the server refuses.

Imports `kube.client`, `kube.cache` and `kube.managed_fields`.
"""
