"""An operator that looks after some namespaces registers its webhooks for those alone."""

from steward.admission.self_registration import restricted

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


def test_an_operator_of_all_namespaces_changes_nothing():
    assert restricted([CONFIGURATION], ()) == [CONFIGURATION]


def test_every_webhook_and_policy_is_asked_only_about_those_namespaces():
    configuration, policy, binding = restricted([CONFIGURATION, POLICY, BINDING], ("b", "a"))
    chosen = {
        "matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["a", "b"]}]
    }
    assert [webhook["namespaceSelector"] for webhook in configuration["webhooks"]] == [chosen, chosen]
    assert policy["spec"]["matchConstraints"]["namespaceSelector"] == chosen
    assert binding["spec"]["policyName"] == policy["metadata"]["name"] != "shop"


def test_operators_of_different_namespaces_do_not_meet():
    [one], [other] = restricted([CONFIGURATION], ("a",)), restricted([CONFIGURATION], ("b",))
    assert one["metadata"]["name"] != other["metadata"]["name"]
