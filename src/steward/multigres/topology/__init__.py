"""Records of the topology server: desired ones, stored ones, their protobuf encoding.

Pure. Imports `multigres.resolution` and `multigres.api`.
"""
