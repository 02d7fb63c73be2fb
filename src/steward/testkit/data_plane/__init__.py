"""A data plane's stand-in for control planes that run no containers: real etcds, and the records of pods in them.

from steward.testkit.data_plane import DataPlane, DataPlaneSettings, Misbehaviour
"""

from steward.testkit.data_plane.misbehaviour import ANNOTATION, Misbehaviour
from steward.testkit.data_plane.stand_in import DataPlane, DataPlaneSettings

__all__ = ["ANNOTATION", "DataPlane", "DataPlaneSettings", "Misbehaviour"]
