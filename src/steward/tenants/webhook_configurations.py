"""Builds the webhook configurations of the tenants operator. Pure."""

from typing import Final

from steward.kube.objects.kinds import Manifest
from steward.kube.objects.webhook_configurations import (
    ClientConfig,
    ReviewedResource,
    WebhookRule,
    webhook,
    webhook_configuration,
)
from steward.tenants.api.group import GROUP, VERSION
from steward.tenants.labels import FIELD_MANAGER

MUTATING: Final = "tenant-operator-mutating-webhook-configuration"
VALIDATING: Final = "tenant-operator-validating-webhook-configuration"
_RESOURCES: Final = (
    ReviewedResource(GROUP, VERSION, "tenantregistry", "tenantregistries"),
    ReviewedResource(GROUP, VERSION, "tenanttemplate", "tenanttemplates"),
)


WARNING_SECONDS: Final = 3


def webhook_configurations(client_config: ClientConfig) -> list[Manifest]:
    mutating = [_webhook("mutate", resource, client_config) for resource in _RESOURCES]
    validating = [_webhook("validate", resource, client_config) for resource in _RESOURCES]
    warning = [_deletion_webhook(resource, client_config) for resource in _RESOURCES]
    return [
        webhook_configuration("MutatingWebhookConfiguration", MUTATING, FIELD_MANAGER, mutating),
        webhook_configuration(
            "ValidatingWebhookConfiguration", VALIDATING, FIELD_MANAGER, [*validating, *warning]
        ),
    ]


def _webhook(verb: str, resource: ReviewedResource, client_config: ClientConfig) -> Manifest:
    rule = WebhookRule(f"{verb[0]}{resource.singular}", verb, resource, ("CREATE", "UPDATE"))
    return webhook(rule, client_config)


def _deletion_webhook(resource: ReviewedResource, client_config: ClientConfig) -> Manifest:
    """Only warns, since the finalizer holds the deletion: it must not wait for an operator that is not running."""
    rule = WebhookRule(f"w{resource.singular}", "validate", resource, ("DELETE",))
    return {**webhook(rule, client_config), "failurePolicy": "Ignore", "timeoutSeconds": WARNING_SECONDS}
