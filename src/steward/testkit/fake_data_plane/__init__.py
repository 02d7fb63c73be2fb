"""A data plane's stand-in for control planes that run no containers: real etcds, and the records of pods in them.

from steward.testkit.fake_data_plane import DataPlane, DataPlaneSettings, Misbehaviour
"""

from steward.testkit.fake_data_plane.data_plane import DataPlane, DataPlaneSettings
from steward.testkit.fake_data_plane.faults import ANNOTATION, Misbehaviour

__all__ = ["ANNOTATION", "DataPlane", "DataPlaneSettings", "Misbehaviour"]
