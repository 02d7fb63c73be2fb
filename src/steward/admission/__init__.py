"""Admission webhooks: the HTTPS server, the AdmissionReview codec, registration with the API server.

Imports `kube` and `certificates`.
"""
