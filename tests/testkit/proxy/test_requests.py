import pytest

from steward.testkit.proxy.requests import parse_call

CALLS = [
    ("GET", "/api/v1/pods", {}, ("list", "", "pods", "", "", "")),
    ("GET", "/api/v1/namespaces/a/pods", {}, ("list", "", "pods", "", "a", "")),
    ("GET", "/api/v1/namespaces/a/pods", {"watch": "true"}, ("watch", "", "pods", "", "a", "")),
    ("GET", "/api/v1/namespaces/a/pods/b", {}, ("get", "", "pods", "", "a", "b")),
    ("POST", "/api/v1/namespaces/a/pods/b/eviction", {}, ("create", "", "pods", "eviction", "a", "b")),
    ("POST", "/apis/apps/v1/namespaces/a/deployments", {}, ("create", "apps", "deployments", "", "a", "")),
    ("PUT", "/apis/apps/v1/namespaces/a/deployments/b", {}, ("update", "apps", "deployments", "", "a", "b")),
    ("PATCH", "/apis/x.io/v1/namespaces/a/ts/b/status", {}, ("patch", "x.io", "ts", "status", "a", "b")),
    ("DELETE", "/api/v1/namespaces/a/secrets/b", {}, ("delete", "", "secrets", "", "a", "b")),
    ("DELETE", "/api/v1/namespaces/a/secrets", {}, ("deletecollection", "", "secrets", "", "a", "")),
    ("GET", "/api/v1/namespaces", {}, ("list", "", "namespaces", "", "", "")),
    ("GET", "/api/v1/namespaces/a", {}, ("get", "", "namespaces", "", "", "a")),
    ("PUT", "/api/v1/namespaces/a/finalize", {}, ("update", "", "namespaces", "finalize", "", "a")),
    ("PATCH", "/api/v1/nodes/n/status", {}, ("patch", "", "nodes", "status", "", "n")),
    ("GET", "/api/v1/nodes/n/proxy/a/b", {}, ("get", "", "nodes", "proxy/a/b", "", "n")),
    ("GET", "/version", {}, ("get", "", "", "", "", "")),
    ("GET", "/apis/apps/v1", {}, ("get", "", "", "", "", "")),
]


@pytest.mark.parametrize(("method", "path", "query", "meaning"), CALLS)
def test_a_path_is_parsed_as_by_the_api_server(method, path, query, meaning):
    call = parse_call(method, path, query)
    read = (call.verb, call.group, call.resource, call.subresource, call.namespace, call.name)
    assert read == meaning


@pytest.mark.parametrize(
    ("method", "path", "query", "is_write"),
    [
        ("POST", "/api/v1/namespaces/a/pods", {}, True),
        ("DELETE", "/api/v1/namespaces/a/pods", {}, True),
        ("GET", "/api/v1/namespaces/a/pods", {}, False),
        ("PATCH", "/api/v1/namespaces/a/pods/b", {"dryRun": "All"}, False),
        ("POST", "/apis/authentication.k8s.io/v1/tokenreviews", {}, False),
        ("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {}, False),
    ],
)
def test_reviews_and_dry_runs_are_no_writes(method, path, query, is_write):
    assert parse_call(method, path, query).is_write is is_write
