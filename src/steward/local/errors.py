"""Errors of the local control plane. Every message is one sentence and names the cure.

LocalError
├── DiskFull             too little disk space for a build or for the cluster's data
├── BuildError
│   ├── UnsupportedMachine   the operating system or processor is not supported
│   ├── ToolchainMissing     no recent Go is installed and none could be fetched
│   ├── RegistryUnreachable  the Go modules cannot be fetched
│   └── CompileFailed        `go build` failed for any other reason
├── SampleError
│   ├── NoSample             a verb needs the sample, which does not exist
│   └── UnknownCustomer      the sample's table has no such customer
└── ControlPlaneError
    ├── NotRunning           a verb needs a control plane and none runs
    ├── StoppedDuringStart   another process stopped it before `steward up` had finished
    ├── PortTaken            the port that the user chose is in use
    └── ComponentFailed      etcd, the API server, ... ended or did not become ready
"""

from __future__ import annotations


class LocalError(Exception):
    """Base of all errors that this package raises for reasons outside its own code."""


class DiskFull(LocalError):
    pass


class BuildError(LocalError):
    pass


class UnsupportedMachine(BuildError):
    pass


class ToolchainMissing(BuildError):
    pass


class RegistryUnreachable(BuildError):
    pass


class CompileFailed(BuildError):
    pass


class SampleError(LocalError):
    pass


class NoSample(SampleError):
    pass


class UnknownCustomer(SampleError):
    pass


class ControlPlaneError(LocalError):
    pass


class NotRunning(ControlPlaneError):
    pass


class StoppedDuringStart(ControlPlaneError):
    pass


class PortTaken(ControlPlaneError):
    pass


class ComponentFailed(ControlPlaneError):
    pass
