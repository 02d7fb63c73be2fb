"""Container images without a registry: reads archives of the user, makes a few small images, imports both.

In the order of a start:

    names, archives          full names of images; which images an archive contains
    layers, writing          one layer and one docker-archive from files, the same bytes each time
    shared_libraries, distributions, python_root, recipes     what is in each image that Steward makes
    catalog                  all archives of a start, made now unless they are cached
    importing                archives into containerd
    availability             images that are neither imported nor to be had from a registry

Imports `local.errors`, `local.locks`, `local.programs`, `local.progress`, `install.values` and the defaults of
`multigres.resolution`.
"""
