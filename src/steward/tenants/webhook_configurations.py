"""What the API server is told to ask on behalf of tenants: webhook configurations. Pure."""

from typing import Final

from steward.kube.objects.kinds import Manifest
from steward.kube.objects.webhook_configurations import (
    ClientConfig,
    Question,
    Reviewed,
    configuration,
    webhook,
)
from steward.tenants.api.group import GROUP, VERSION
from steward.tenants.labels import FIELD_MANAGER

MUTATING: Final = "tenant-operator-mutating-webhook-configuration"
VALIDATING: Final = "tenant-operator-validating-webhook-configuration"
_KINDS: Final = (
    Reviewed(GROUP, VERSION, "tenantregistry", "tenantregistries"),
    Reviewed(GROUP, VERSION, "tenanttemplate", "tenanttemplates"),
)


def webhook_configurations(reached: ClientConfig) -> list[Manifest]:
    mutating = [_webhook("mutate", kind, ("CREATE", "UPDATE"), reached) for kind in _KINDS]
    validating = [_webhook("validate", kind, ("CREATE", "UPDATE", "DELETE"), reached) for kind in _KINDS]
    return [
        configuration("MutatingWebhookConfiguration", MUTATING, FIELD_MANAGER, mutating),
        configuration("ValidatingWebhookConfiguration", VALIDATING, FIELD_MANAGER, validating),
    ]


def _webhook(work: str, kind: Reviewed, operations: tuple[str, ...], reached: ClientConfig) -> Manifest:
    return webhook(Question(f"{work[0]}{kind.singular}", work, kind, operations), reached)
