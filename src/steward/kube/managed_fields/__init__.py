"""Reads `metadata.managedFields`: which fields this operator owns, and with which values.

Pure. Imports `kube.objects`.
"""
