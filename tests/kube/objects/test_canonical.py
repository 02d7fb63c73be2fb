from typing import Any

import pytest

from steward.kube.objects.canonical import Path, canonical_for, is_atomic_map
from steward.kube.objects.kinds import (
    CONFIG_MAP,
    DEPLOYMENT,
    LEASE,
    NETWORK_POLICY,
    SECRET,
    STATEFUL_SET,
    Kind,
)

CUSTOM = Kind("example.com/v1", "Thing")

REQUEST: Path = ("spec", "resources", "requests", "cpu")


@pytest.mark.parametrize(
    ("kind", "path", "one", "other"),
    [
        (DEPLOYMENT, REQUEST, "1000m", 1),
        (DEPLOYMENT, ("emptyDir", "sizeLimit"), "1Gi", "1024Mi"),
        (CUSTOM, REQUEST, "1000m", "1"),
        (SECRET, ("data", "k"), "aGVs\nbG8=", "aGVsbG8="),
        (SECRET, ("data", "k"), "", None),
        (CONFIG_MAP, ("binaryData", "k"), "aGVsbG9=", "aGVsbG8="),
        (LEASE, ("spec", "renewTime"), "2026-01-01T01:00:00+01:00", "2026-01-01T00:00:00Z"),
        (DEPLOYMENT, ("spec", "hostNetwork"), False, None),
        (DEPLOYMENT, ("spec", "minReadySeconds"), 0, None),
        (DEPLOYMENT, ("spec", "emptyDir"), {}, None),
        (DEPLOYMENT, ("spec", "replicas"), 1.0, 1),
        (CUSTOM, ("spec", "ratio"), 2.0, 2),
        (DEPLOYMENT, ("env", "fieldRef"), {"fieldPath": "x"}, {"apiVersion": "v1", "fieldPath": "x"}),
        (DEPLOYMENT, ("args",), [{"a": None}], [{}]),
        (
            NETWORK_POLICY,
            ("spec", "ingress"),
            [{"ports": [{"port": 1}]}],
            [{"ports": [{"protocol": "TCP", "port": 1}]}],
        ),
        (
            STATEFUL_SET,
            ("spec", "volumeClaimTemplates"),
            [{"spec": {"resources": {"requests": {"storage": "1Gi"}}}}],
            [
                {
                    "apiVersion": "v1",
                    "kind": "PersistentVolumeClaim",
                    "spec": {"resources": {"requests": {"storage": "1024Mi"}}, "volumeMode": "Filesystem"},
                    "status": {"phase": "Pending"},
                }
            ],
        ),
    ],
)
def test_equivalent_values_have_the_same_canonical_form(kind: Kind, path: Path, one: Any, other: Any) -> None:
    spell = canonical_for(kind, path)

    assert spell(one) == spell(other)


@pytest.mark.parametrize(
    ("kind", "path", "one", "other"),
    [
        (DEPLOYMENT, REQUEST, "1", "2"),
        (DEPLOYMENT, REQUEST, "text", "other"),
        (CUSTOM, REQUEST, "1", 1),
        (CUSTOM, ("spec", "text"), "", None),
        (CUSTOM, ("spec", "on"), False, None),
        (CUSTOM, ("spec", "list"), [], None),
        (CUSTOM, ("spec", "version"), "1000m", "1"),
        (CONFIG_MAP, ("data", "k"), "aGVsbG9=", "aGVsbG8="),
        (CONFIG_MAP, ("data", "cpu"), "1000m", "1"),
        (CONFIG_MAP, ("data", "startTime"), "2026-01-01T01:00:00+01:00", "2026-01-01T00:00:00Z"),
        (CONFIG_MAP, ("data", "caBundle"), "a b", "ab"),
        (CONFIG_MAP, ("data", "sizeLimit"), "1Gi", "1024Mi"),
        (DEPLOYMENT, ("spec", "template", "metadata", "annotations", "divisor"), "1", "1000m"),
        (CUSTOM, ("spec", "capacity", "version"), "08", "8"),
        (SECRET, ("data", "k"), "not base64!", "other"),
        (SECRET, ("data", "k"), "aGVsbG8=!", "aGVsbG8="),
        (NETWORK_POLICY, ("spec", "ingress"), [{}], []),
        (NETWORK_POLICY, ("spec", "ingress"), [{"from": [{"podSelector": {}}]}], [{"from": [{}]}]),
        (DEPLOYMENT, ("spec", "tolerations"), [{"tolerationSeconds": 0}], [{}]),
        (
            STATEFUL_SET,
            ("spec", "volumeClaimTemplates"),
            [{"spec": {"storageClassName": ""}}],
            [{"spec": {}}],
        ),
        (DEPLOYMENT, ("args",), ["a", "b"], ["b", "a"]),
        (CUSTOM, ("spec", "cells"), [{"weight": 1}], [{}]),
    ],
)
def test_values_that_differ_on_the_server_differ_in_canonical_form(
    kind: Kind, path: Path, one: Any, other: Any
) -> None:
    spell = canonical_for(kind, path)

    assert spell(one) != spell(other)


@pytest.mark.parametrize(
    ("kind", "path", "atomic"),
    [
        (DEPLOYMENT, ("spec", "selector"), True),
        (DEPLOYMENT, ("spec", "securityContext"), False),
        (CUSTOM, ("spec", "selector"), False),
        (CUSTOM, ("spec", "parts", 'k:{"name":"x"}'), True),
    ],
)
def test_a_map_is_known_to_be_atomic_by_its_name_or_path(kind: Kind, path: Path, atomic: bool) -> None:
    assert is_atomic_map(kind, path) is atomic
