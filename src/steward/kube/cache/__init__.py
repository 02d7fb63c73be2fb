"""Informer caches: list and watch by rule into indexed stores of typed views.

Imports `kube.client` and `kube.managed_fields`.
"""
