"""Every reason that Steward gives in a condition or an event of multigres, with what it means.

One CamelCase word each; the reference in the docs is made from this table.
"""

HEALTHY = "Healthy"
WAITING = "WaitingForComponents"
TROUBLE = "ComponentInTrouble"
AVAILABLE = "ComponentsServing"
UNAVAILABLE = "NothingServes"
INVALID_SPEC = "InvalidSpec"
NAME_TAKEN = "NameTaken"
REGISTERED = "Registered"
TOPOLOGY_UNREACHABLE = "TopologyUnreachable"
TOPOLOGY_WAITING = "TopologyServerStarting"
TOPOLOGY_UNREADABLE = "TopologyRecordUnreadable"
TOPOLOGY_SECRET_MISSING = "TopologySecretMissing"
CERTIFICATES_VALID = "CertificatesValid"
CERTIFICATES_MISSING = "CertificatesMissing"

MEANINGS = {
    HEALTHY: "Everything that was asked for is there and ready.",
    WAITING: "Something is not ready yet; the message names it.",
    TROUBLE: "Something will not become ready by itself; the message says what and why.",
    AVAILABLE: "Every component has at least one pod that serves.",
    UNAVAILABLE: "A component has no pod that serves.",
    INVALID_SPEC: "The spec cannot be carried out; the message names the field. What runs stays as it is.",
    NAME_TAKEN: "An object of somebody else stands under a name that Steward needs. Rename one of the two.",
    REGISTERED: "The topology server holds the records that the data plane reads.",
    TOPOLOGY_UNREACHABLE: "The topology server does not answer; it is tried again and again.",
    TOPOLOGY_WAITING: "The topology server has no ready member yet.",
    TOPOLOGY_UNREADABLE: "A key of ours in the topology server holds something else; the message names it.",
    TOPOLOGY_SECRET_MISSING: "A Secret for the topology server's TLS is missing or not whole; the message names it.",
    CERTIFICATES_VALID: "The backup service has certificates that are valid and will be renewed in time.",
    CERTIFICATES_MISSING: "The backup service has no usable certificates; the message says what to do.",
}
