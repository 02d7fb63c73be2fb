"""Server-side apply that sends nothing when nothing would change, and repairs applies that the server rejects.

Imports `kube.cache`, `kube.client`, `kube.managed_fields`, `kube.objects` and `kube.bounded_cache`.
"""
