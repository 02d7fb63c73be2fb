"""An operator of some namespaces registers its webhooks for those alone."""

from steward.admission.self_registration import restrict_to_namespaces

CONFIGURATION = {
    "kind": "ValidatingWebhookConfiguration",
    "metadata": {"name": "shop"},
    "webhooks": [{"name": "a"}, {"name": "b"}],
}
POLICY = {
    "kind": "ValidatingAdmissionPolicy",
    "metadata": {"name": "shop"},
    "spec": {"matchConstraints": {"resourceRules": []}},
}
BINDING = {
    "kind": "ValidatingAdmissionPolicyBinding",
    "metadata": {"name": "shop"},
    "spec": {"policyName": "shop", "validationActions": ["Deny"]},
}


def test_for_all_namespaces_manifests_are_not_changed():
    assert restrict_to_namespaces([CONFIGURATION], ()) == [CONFIGURATION]


def test_every_webhook_and_policy_is_restricted_to_the_namespaces():
    configuration, policy, binding = restrict_to_namespaces([CONFIGURATION, POLICY, BINDING], ("b", "a"))
    chosen = {
        "matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["a", "b"]}]
    }
    assert [webhook["namespaceSelector"] for webhook in configuration["webhooks"]] == [chosen, chosen]
    assert policy["spec"]["matchConstraints"]["namespaceSelector"] == chosen
    assert binding["spec"]["policyName"] == policy["metadata"]["name"] != "shop"


def test_operators_of_different_namespaces_do_not_conflict():
    [one], [other] = (
        restrict_to_namespaces([CONFIGURATION], ("a",)),
        restrict_to_namespaces([CONFIGURATION], ("b",)),
    )
    assert one["metadata"]["name"] != other["metadata"]["name"]
