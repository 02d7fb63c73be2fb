"""Informer caches: list and watch by rule into indexed stores of typed views.

Imports `kube.client`, `kube.transport`, `kube.managed_fields` and `kube.objects`.
"""
