"""Errors of the local control plane. Every message is one sentence and names the cure.

LocalError
├── DiskFull             too little disk space for a build or for the cluster's data
├── BuildError
│   ├── UnsupportedMachine   the operating system or processor is not supported
│   ├── ToolchainMissing     no recent Go is installed and none could be fetched
│   ├── RegistryUnreachable  the Go modules cannot be fetched
│   └── CompileFailed        `go build` failed for any other reason
├── ImageError
│   ├── BadImageArchive      a file in the image directory is no archive, or names no image
│   ├── ImageNotMade         this machine lacks what an image is made from
│   └── ImportFailed         containerd rejects an archive
├── SampleError
│   ├── NoSample             a verb needs the sample, which does not exist
│   ├── SampleStillDeleting  its namespace was deleted and does not end
│   └── UnknownCustomer      the sample's table has no such customer
├── ContainerError
│   ├── MachineUnsuitable    this machine cannot run containers as it is
│   ├── ProgramsMissing      containerd and its like are neither installed nor to be had
│   └── ModeChanged          the cluster was made without containers
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


class ImageError(LocalError):
    pass


class BadImageArchive(ImageError):
    pass


class ImageNotMade(ImageError):
    pass


class ImportFailed(ImageError):
    pass


class SampleError(LocalError):
    pass


class NoSample(SampleError):
    pass


class SampleStillDeleting(SampleError):
    pass


class UnknownCustomer(SampleError):
    pass


class ContainerError(LocalError):
    pass


class MachineUnsuitable(ContainerError):
    pass


class ProgramsMissing(ContainerError):
    pass


class ModeChanged(ContainerError):
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
