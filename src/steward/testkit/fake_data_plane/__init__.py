"""A fake data plane for control planes that run no containers: real etcd servers, and the records of pods in them.

from steward.testkit.fake_data_plane import DataPlaneFault, FakeDataPlane, FakeDataPlaneSettings
"""

from steward.testkit.fake_data_plane.data_plane import FakeDataPlane, FakeDataPlaneSettings
from steward.testkit.fake_data_plane.faults import ANNOTATION, DataPlaneFault

__all__ = ["ANNOTATION", "DataPlaneFault", "FakeDataPlane", "FakeDataPlaneSettings"]
