"""A custom resource with most schema features: defaults, keyed, set and atomic lists, atomic and free maps, status."""

from typing import Any

from steward.kube.objects.kinds import Kind

GROUP = "engine.steward.test"
WIDGET = Kind(f"{GROUP}/v1", "Widget")

_ITEM = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "weight": {"type": "integer", "default": 1},
        "zone": {"type": "string"},
    },
}

WIDGET_CRD: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"widgets.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "size": {"type": "integer"},
                                    "text": {"type": "string"},
                                    "on": {"type": "boolean"},
                                    "mode": {"type": "string", "default": "auto"},
                                    "tags": {
                                        "type": "array",
                                        "x-kubernetes-list-type": "set",
                                        "items": {"type": "string"},
                                    },
                                    "cells": {
                                        "type": "array",
                                        "x-kubernetes-list-type": "atomic",
                                        "items": _ITEM,
                                    },
                                    "parts": {
                                        "type": "array",
                                        "x-kubernetes-list-type": "map",
                                        "x-kubernetes-list-map-keys": ["name"],
                                        "items": {
                                            "type": "object",
                                            "required": ["name"],
                                            "properties": {
                                                "name": {"type": "string"},
                                                "mode": {"type": "string", "default": "on"},
                                                "ports": {
                                                    "type": "array",
                                                    "x-kubernetes-list-type": "map",
                                                    "x-kubernetes-list-map-keys": ["port"],
                                                    "items": {
                                                        "type": "object",
                                                        "required": ["port"],
                                                        "properties": {"port": {"type": "integer"}},
                                                    },
                                                },
                                                "resources": {
                                                    "type": "object",
                                                    "properties": {
                                                        "limits": {
                                                            "type": "object",
                                                            "additionalProperties": {
                                                                "x-kubernetes-int-or-string": True
                                                            },
                                                        }
                                                    },
                                                },
                                            },
                                        },
                                    },
                                    "whole": {
                                        "type": "object",
                                        "x-kubernetes-map-type": "atomic",
                                        "x-kubernetes-preserve-unknown-fields": True,
                                    },
                                    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                                    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                                    "emptyList": {"type": "array", "items": {"type": "string"}},
                                    "emptyMap": {
                                        "type": "object",
                                        "additionalProperties": {"type": "string"},
                                    },
                                },
                            },
                            "status": {
                                "type": "object",
                                "properties": {
                                    "phase": {"type": "string"},
                                    "observedGeneration": {"type": "integer"},
                                    "conditions": {
                                        "type": "array",
                                        "x-kubernetes-list-type": "map",
                                        "x-kubernetes-list-map-keys": ["type"],
                                        "items": {
                                            "type": "object",
                                            "required": ["type", "status"],
                                            "properties": {
                                                "type": {"type": "string"},
                                                "status": {"type": "string"},
                                                "reason": {"type": "string"},
                                                "message": {"type": "string"},
                                                "lastTransitionTime": {
                                                    "type": "string",
                                                    "format": "date-time",
                                                },
                                                "observedGeneration": {"type": "integer"},
                                            },
                                        },
                                    },
                                },
                            },
                        },
                    }
                },
            }
        ],
    },
}
