"""AdmissionReviews and webhook configurations of the tests."""

import msgspec


def review_body(obj=None, old=None, **request):
    meta = (obj or old or {}).get("metadata", {})
    request = {
        "uid": "u-1",
        "operation": "CREATE",
        "kind": {"group": "shop.io", "version": "v1", "kind": "Basket"},
        "resource": {"group": "shop.io", "version": "v1", "resource": "baskets"},
        "name": meta.get("name", ""),
        "namespace": meta.get("namespace", ""),
        "userInfo": {"username": "jane", "groups": ["staff"]},
        "object": obj,
        "oldObject": old,
        **request,
    }
    envelope = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    return msgspec.json.encode(envelope)


def webhook_configuration(kind, name, webhook):
    """A configuration with one webhook for the ConfigMaps of one namespace."""
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE", "DELETE"],
        "resources": ["configmaps"],
    }
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": name},
        "webhooks": [
            {
                "name": "check.tests.io",
                "rules": [rule],
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "timeoutSeconds": 30,
                **webhook,
            }
        ],
    }
