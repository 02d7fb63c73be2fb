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


def webhook_configurations(client_config: ClientConfig) -> list[Manifest]:
    mutating = [_webhook("mutate", resource, ("CREATE", "UPDATE"), client_config) for resource in _RESOURCES]
    validating = [
        _webhook("validate", resource, ("CREATE", "UPDATE", "DELETE"), client_config)
        for resource in _RESOURCES
    ]
    return [
        webhook_configuration("MutatingWebhookConfiguration", MUTATING, FIELD_MANAGER, mutating),
        webhook_configuration("ValidatingWebhookConfiguration", VALIDATING, FIELD_MANAGER, validating),
    ]


def _webhook(
    verb: str, resource: ReviewedResource, operations: tuple[str, ...], client_config: ClientConfig
) -> Manifest:
    return webhook(WebhookRule(f"{verb[0]}{resource.singular}", verb, resource, operations), client_config)
