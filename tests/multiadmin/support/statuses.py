"""Answers of multiadmin as the real one sends them: camelCase, enum names, empty values and nulls included."""

from typing import Any

COHORT = [{"component": "MULTIPOOLER", "cell": "z1", "name": f"pg-{number}"} for number in range(3)]
DECISION = {
    "ruleNumber": {"coordinatorTerm": "7", "leaderSubterm": "2"},
    "leaderId": COHORT[0],
    "cohortMembers": COHORT,
    "durabilityPolicy": {
        "policyName": "AT_LEAST_2",
        "policyVersion": "1",
        "quorumType": "QUORUM_TYPE_AT_LEAST_N",
        "requiredCount": 2,
        "description": "",
    },
    "coordinatorId": {"component": "MULTIORCH", "cell": "z1", "name": "orch"},
    "creationTime": "2026-08-21T10:00:00Z",
}
CONSENSUS = {
    "termRevocation": None,
    "currentPosition": {"position": {"decision": DECISION, "proposal": None}, "lsn": "0/5000060"},
    "replicationPrimary": None,
    "id": COHORT[0],
}
IDLE = {
    "poolerType": "UNKNOWN",
    "primaryStatus": None,
    "replicationStatus": None,
    "isInitialized": True,
    "hasDataDirectory": True,
    "postgresRunning": False,
    "postgresStatus": "POSTGRES_STATUS_UNKNOWN",
    "walPosition": "",
    "shardId": "0-inf",
    "postgresAction": "POSTGRES_ACTION_UNSPECIFIED",
    "postgresActionDuration": None,
    "postgresReady": False,
}
RUNNING = {**IDLE, "postgresRunning": True, "postgresReady": True}
PRIMARY: dict[str, Any] = {
    "status": {
        **RUNNING,
        "poolerType": "PRIMARY",
        "postgresStatus": "POSTGRES_STATUS_PRIMARY",
        "primaryStatus": {
            "lsn": "0/5000060",
            "ready": True,
            "connectedFollowers": COHORT[1:],
            "syncReplicationConfig": {
                "synchronousCommit": "SYNCHRONOUS_COMMIT_ON",
                "synchronousMethod": "SYNCHRONOUS_METHOD_ANY",
                "numSync": 1,
                "standbyIds": COHORT[1:],
                "standbyApplicationNames": ["z1_pg-1", "z1_pg-2"],
            },
            "maxWalSenders": 10,
        },
    },
    "consensusStatus": CONSENSUS,
}
STANDBY: dict[str, Any] = {
    "status": {
        **RUNNING,
        "poolerType": "REPLICA",
        "postgresStatus": "POSTGRES_STATUS_STANDBY",
        "replicationStatus": {
            "lastReplayLsn": "0/5000060",
            "isWalReplayPaused": False,
            "lag": "1.500s",
            "walReceiverStatus": "streaming",
            "primaryConnInfo": {"host": "pg-0", "port": 5432},
        },
    },
    "consensusStatus": CONSENSUS,
}
