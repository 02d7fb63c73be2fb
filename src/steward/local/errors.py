"""What can go wrong on the user's machine. Every message is one sentence and says the cure.

LocalError
├── DiskFull             too little room for a build or for the cluster's data
├── BuildError
│   ├── UnsupportedMachine   an operating system or processor we build nothing for
│   ├── ToolchainMissing     no recent Go, and none to be had
│   ├── RegistryUnreachable  the sources cannot be fetched
│   └── CompileFailed        Go said no, for any other reason
├── SampleError
│   ├── NoSample             a verb needs the sample and there is none
│   └── UnknownCustomer      nobody of that name is in its table
└── ControlPlaneError
    ├── NotRunning           a verb needs a control plane and there is none
    ├── StoppedMeanwhile     somebody stopped it while it was being furnished
    ├── PortTaken            the port that the user asked for is in use
    └── ComponentFailed      etcd, the API server ... ended or never became ready
"""

from __future__ import annotations


class LocalError(Exception):
    """The root: whatever this package raises for a reason outside its own code."""


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


class StoppedMeanwhile(ControlPlaneError):
    pass


class PortTaken(ControlPlaneError):
    pass


class ComponentFailed(ControlPlaneError):
    pass
