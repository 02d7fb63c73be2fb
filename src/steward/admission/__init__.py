"""The webhook server, its AdmissionReview codec, and the certificate keeper.

`server` answers reviews (`review`, `jsonpatch`, `gate`, `deadline`) under a certificate that `serving_certificate`
reloads. `keeper` keeps certificates in Secrets: `keeping` decides, `kept_secrets` reads and writes, `authority` signs;
`webhook_bundle` tells the API server what to trust.
"""

from steward.admission.authority import Usage
from steward.admission.errors import AdmissionError, CertificateError, OwnerNotFoundError, ProjectionError
from steward.admission.keeper import CertificateKeeper, Kept
from steward.admission.keeper_options import Announcement, KeeperOptions, Leaf, Lifetimes, Owner, Trust
from steward.admission.owner import OwnerQuery, find_deployment
from steward.admission.projection import write_files
from steward.admission.review import Allowed, Cause, Denied, Operation, Review, UserInfo, Verdict, invalid
from steward.admission.server import Hooks, Result, Reviewed, ServerSettings, Webhook, WebhookServer, Work
from steward.admission.serving_certificate import ServingCertificate
from steward.admission.strategy import Strategy, find_strategy
from steward.admission.webhook_bundle import publish_bundle, webhook_configurations

__all__ = [
    "AdmissionError",
    "Allowed",
    "Announcement",
    "Cause",
    "CertificateError",
    "CertificateKeeper",
    "Denied",
    "Hooks",
    "KeeperOptions",
    "Kept",
    "Leaf",
    "Lifetimes",
    "Operation",
    "Owner",
    "OwnerNotFoundError",
    "OwnerQuery",
    "ProjectionError",
    "Result",
    "Review",
    "Reviewed",
    "ServerSettings",
    "ServingCertificate",
    "Strategy",
    "Trust",
    "Usage",
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
    "write_files",
]
