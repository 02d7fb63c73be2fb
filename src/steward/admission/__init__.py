"""Admission webhooks: the HTTPS server, the AdmissionReview codec, registration with the API server.

Imports `kube`, `runtime` and `certificates`.
"""

from steward.admission.ca_bundle import publish_bundle, webhook_configurations
from steward.admission.certificate_source import Strategy, find_strategy
from steward.admission.errors import AdmissionError
from steward.admission.own_deployment import OwnerQuery, find_deployment
from steward.admission.review import Allowed, Cause, Denied, Operation, Review, UserInfo, Verdict, invalid
from steward.admission.server import Hooks, Result, Reviewed, ServerSettings, Webhook, WebhookServer, Work

__all__ = [
    "AdmissionError",
    "Allowed",
    "Cause",
    "Denied",
    "Hooks",
    "Operation",
    "OwnerQuery",
    "Result",
    "Review",
    "Reviewed",
    "ServerSettings",
    "Strategy",
    "UserInfo",
    "Verdict",
    "Webhook",
    "WebhookServer",
    "Work",
    "find_deployment",
    "find_strategy",
    "invalid",
    "publish_bundle",
    "webhook_configurations",
]
