"""A fake data plane for control planes that run no containers: etcd, the records of pods, Postgres servers, multiadmin.

from steward.testkit.fake_data_plane import DataPlaneFault, FakeDataPlane, FakeDataPlaneSettings
"""

from steward.testkit.fake_data_plane.data_plane import EtcdKind, FakeDataPlane, FakeDataPlaneSettings
from steward.testkit.fake_data_plane.faults import ANNOTATION, DataPlaneFault, FaultWord
from steward.testkit.fake_data_plane.shard_model import Timing

__all__ = [
    "ANNOTATION",
    "DataPlaneFault",
    "EtcdKind",
    "FakeDataPlane",
    "FakeDataPlaneSettings",
    "FaultWord",
    "Timing",
]
