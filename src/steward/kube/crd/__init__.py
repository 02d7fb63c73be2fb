"""Generates CustomResourceDefinitions with structural schemas from msgspec Structs.

Imports `kube.objects`.
"""
