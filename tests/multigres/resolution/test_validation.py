"""Problems of specs and of updates, and admission warnings."""

from typing import Any

import msgspec
import pytest

from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, ResolvedCluster, Templates
from steward.multigres.resolution.validation import validate, validate_update
from steward.multigres.resolution.warnings.clusters import deletion_warnings, spec_warnings
from tests.multigres.support.typed_templates import templates

NONE = Templates({}, {}, {})


def typed(**spec: Any) -> MultigresClusterSpec:
    return msgspec.convert({"cells": [{"zone": "z1"}], **spec}, MultigresClusterSpec)


def resolved(spec: MultigresClusterSpec, existing: Templates = NONE) -> ResolvedCluster:
    return resolve(ClusterIdentity("ns", "c"), spec, existing)


def errors(existing: Templates = NONE, **spec: Any) -> list[tuple[str, str]]:
    typed_spec = typed(**spec)
    return [tuple(problem) for problem in validate(typed_spec, resolved(typed_spec, existing))]  # type: ignore[misc]


def shard(**spec: Any) -> dict[str, Any]:
    group = {"name": "default", "default": True, "shards": [{"name": "0-inf", **spec}]}
    return {"databases": [{"name": "postgres", "default": True, "tablegroups": [group]}]}


SHARD = "spec.databases[postgres].tablegroups[default].shards[0-inf]"
SMALL = {"requests": {"cpu": "2"}, "limits": {"cpu": "1500m"}}


def test_a_valid_cluster_has_no_problems() -> None:
    assert errors() == []


ON_VOLUMES: dict[str, Any] = {"backup": {"type": "filesystem", "filesystem": {"storage": {"size": "20Gi"}}}}
ON_VOLUMES_WITH_OWN_CERTIFICATES = {
    "backup": {**ON_VOLUMES["backup"], "pgbackrestTLS": {"secretName": "mine"}}
}


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"multiadmin": {"spec": {"resources": SMALL}}}, "spec.multiadmin.spec.resources.limits.cpu"),
        (
            {"globalTopoServer": {"etcd": {"resources": SMALL}}},
            "spec.globalTopoServer.etcd.resources.limits.cpu",
        ),
        (
            {"cells": [{"zone": "z1", "spec": {"multiGateway": {"resources": SMALL}}}]},
            "spec.cells[0].spec.multiGateway.resources.limits.cpu",
        ),
        (
            {"cells": [{"zone": "z1", "spec": {"localTopoServer": {"etcd": {"resources": SMALL}}}}]},
            "spec.cells[0].spec.localTopoServer.etcd.resources.limits.cpu",
        ),
        (shard(spec={"multiorch": {"resources": SMALL}}), f"{SHARD}.multiorch.resources.limits.cpu"),
        (shard(spec={"pools": {"main": {"postgres": SMALL}}}), f"{SHARD}.pools[main].postgres.limits.cpu"),
    ],
)
def test_a_limit_below_its_request_is_rejected_in_every_component(spec: dict[str, Any], field: str) -> None:
    [(found, message)] = errors(**spec)
    assert found == field
    assert message == "the limit 1500m is below the request 2; raise the limit or lower the request"


def test_a_limit_in_a_template_is_checked_after_resolution() -> None:
    existing = templates(shard={"default": {"pools": {"main": {"postgres": SMALL}}}})
    assert [field for field, _ in errors(existing, **shard())] == [f"{SHARD}.pools[main].postgres.limits.cpu"]


def test_an_override_that_corrects_a_templates_limit_is_valid() -> None:
    existing = templates(shard={"default": {"pools": {"main": {"postgres": SMALL}}}})
    assert (
        errors(existing, **shard(overrides={"pools": {"main": {"postgres": {"requests": {"cpu": "1"}}}}}))
        == []
    )


BUFFERING = "spec.cells[0].spec.multiGateway.buffering"
LONGEST = "must be more than 0 and at most maxFailoverDuration, which is"


@pytest.mark.parametrize(
    ("buffering", "problems"),
    [
        ({}, []),
        ({"window": "5m"}, []),
        ({"window": "40s", "maxFailoverDuration": "40s", "minTimeBetweenFailovers": "0s"}, []),
        ({"maxFailoverDuration": "10s"}, [(BUFFERING, f"window 30s {LONGEST} 10s")]),
        ({"window": "0s"}, [(BUFFERING, f"window 0s {LONGEST} 30s")]),
        ({"enabled": False, "window": "1h", "maxFailoverDuration": "1s"}, []),
    ],
)
def test_requests_are_not_held_longer_than_a_failover(
    buffering: dict[str, Any], problems: list[tuple[str, str]]
) -> None:
    cells = [{"zone": "z1", "spec": {"multiGateway": {"buffering": buffering}}}]
    assert errors(cells=cells) == problems


def test_two_cells_of_the_same_name_are_both_reported() -> None:
    found = errors(cells=[{"zone": "a"}, {"name": "a", "region": "r"}])
    assert [field for field, _ in found] == ["spec.cells[0].name", "spec.cells[1].name"]


def test_all_problems_are_reported_at_once() -> None:
    assert (
        len(errors(multiadmin={"spec": {"resources": SMALL}}, templateDefaults={"cellTemplate": "gone"})) == 2
    )


@pytest.mark.parametrize(
    ("window", "words"),
    [
        ({"cron": "not cron"}, "write five fields"),
        ({"cron": "0 2 * * SUN", "timeZone": "Mars/Base"}, "not in the time zone database"),
        ({"cron": "* * * * * *"}, "five fields"),
        ({"cron": "0 2 * * *", "duration": "0s"}, "1s to 8784h"),
        ({"cron": "0 2 * * *", "duration": "99999999h"}, "1s to 8784h"),
        ({"cron": "0 2 * * *", "duration": "999999999999999s"}, "1s to 8784h"),
    ],
)
def test_an_invalid_window_is_reported_with_the_correct_format(window: dict[str, str], words: str) -> None:
    [(field, message)] = errors(updatePolicy={"templateChanges": "Window", "window": window})
    assert field == "spec.updatePolicy.window"
    assert words in message


@pytest.mark.parametrize("size", ["0", "-5Gi"])
@pytest.mark.parametrize(
    ("spec", "field"),
    [
        (lambda size: shard(spec={"pools": {"main": {"storage": {"size": size}}}}), f"{SHARD}.pools[main]"),
        (
            lambda size: {"globalTopoServer": {"etcd": {"storage": {"size": size}}}},
            "spec.globalTopoServer.etcd",
        ),
        (
            lambda size: {"backup": {"type": "filesystem", "filesystem": {"storage": {"size": size}}}},
            f"{SHARD}.backup.filesystem",
        ),
    ],
    ids=["pool", "etcd", "backup"],
)
def test_an_empty_volume_is_rejected(spec: Any, field: str, size: str) -> None:
    [(where, message)] = errors(**spec(size))
    assert where == f"{field}.storage.size"
    assert message == f"{size} is not a volume size; write more than 0, such as 10Gi"


def test_the_smallest_volume_and_requests_of_nothing_are_valid() -> None:
    pool = {"cells": ["z1"], "storage": {"size": "1"}, "postgres": {"requests": {"cpu": "0"}}}
    assert errors(**shard(spec={"pools": {"main": pool}})) == []


def test_a_repository_that_is_not_in_use_has_no_volume() -> None:
    unused = {"path": "/backups", "storage": {"size": "0"}}
    assert errors(backup={"type": "filesystem", "filesystem": unused}) != []
    assert errors(backup={"type": "s3", "s3": {"bucket": "b", "region": "r"}, "filesystem": unused}) == []


def test_negative_quantities_are_rejected() -> None:
    resources = {"requests": {"cpu": "-1"}, "limits": {"memory": "-1Gi"}}
    found = errors(multiadmin={"spec": {"resources": resources}})
    assert [field for field, _ in found] == [
        "spec.multiadmin.spec.resources.requests.cpu",
        "spec.multiadmin.spec.resources.limits.memory",
    ]


def local_topo(size: str = "1Gi", replicas: int = 1, **fields: Any) -> dict[str, Any]:
    etcd = {"replicas": replicas, "storage": {"size": size}, **fields}
    return {"cells": [{"name": "z1", "zone": "z1", "spec": {"localTopoServer": {"etcd": etcd}}}]}


def pool(**fields: Any) -> dict[str, Any]:
    return shard(spec={"pools": {"main": fields}})


@pytest.mark.parametrize(
    ("before", "after", "rejected"),
    [
        (pool(storage={"size": "10Gi"}), pool(storage={"size": "5Gi"}), True),
        (pool(storage={"size": "10Gi"}), pool(storage={"size": "20Gi"}), False),
        (pool(storage={"size": "1Gi"}), pool(storage={"size": "1024Mi"}), False),
        (pool(storage={"size": "10Gi"}), shard(spec={"pools": {"other": {}}}), False),
        (
            {"globalTopoServer": {"etcd": {"replicas": 3}}},
            {"globalTopoServer": {"etcd": {"replicas": 5}}},
            True,
        ),
        ({}, {"globalTopoServer": {"external": {"endpoints": ["http://a"]}}}, False),
        (local_topo("2Gi"), local_topo("1Gi"), True),
        (local_topo("2Gi"), local_topo("3Gi"), False),
        (local_topo(replicas=1), local_topo(replicas=3), True),
        (local_topo(replicas=1), {"cells": [{"name": "z2", "zone": "z2"}]}, False),
        (
            {"cells": [{"name": "z1", "zone": "z1", "spec": {"localTopoServer": {"etcd": {}}}}]},
            local_topo(replicas=3),
            False,
        ),
    ],
)
def test_volumes_cannot_shrink_and_etcd_members_cannot_change(
    before: dict[str, Any], after: dict[str, Any], rejected: bool
) -> None:
    found = validate_update(resolved(typed(**before)), resolved(typed(**after)))
    assert bool(found) is rejected


def test_removing_an_entry_of_a_list_does_not_shrink_the_next_one() -> None:
    def databases(*sizes: str) -> dict[str, Any]:
        shards = [[{"name": "0", "spec": {"pools": {"main": {"storage": {"size": size}}}}}] for size in sizes]
        groups = [[{"name": "default", "default": True, "shards": each}] for each in shards]
        named = [
            {"name": f"db{size.lower()}", "tablegroups": each}
            for size, each in zip(sizes, groups, strict=True)
        ]
        return {"databases": named}

    before, after = databases("10Gi", "1Gi"), databases("1Gi")
    assert validate_update(resolved(typed(**before)), resolved(typed(**after))) == []


def test_a_backup_volume_cannot_shrink() -> None:
    def backups(size: str) -> ResolvedCluster:
        return resolved(typed(backup={"type": "filesystem", "filesystem": {"storage": {"size": size}}}))

    [problem] = validate_update(backups("10Gi"), backups("5Gi"))
    assert problem.field == f"{SHARD}.backup.filesystem.storage.size"
    assert problem.message == "cannot shrink from 10Gi to 5Gi: a volume only grows"
    assert validate_update(backups("5Gi"), backups("10Gi")) == []


def test_a_template_cannot_shrink_a_volume_either() -> None:
    large = templates(shard={"default": {"pools": {"main": {"storage": {"size": "10Gi"}}}}})
    small = templates(shard={"default": {"pools": {"main": {"storage": {"size": "1Gi"}}}}})
    [problem] = validate_update(resolved(typed(), large), resolved(typed(), small))
    assert problem.message == "cannot shrink from 10Gi to 1Gi: a volume only grows"


def in_class(name: str | None) -> dict[str, Any]:
    return {"size": "1Gi"} if name is None else {"size": "1Gi", "class": name}


@pytest.mark.parametrize(
    ("component", "field", "cure"),
    [
        (
            lambda name: pool(storage=in_class(name)),
            f"{SHARD}.pools[main]",
            "add a pool with the other class and remove this one",
        ),
        (
            lambda name: {"globalTopoServer": {"etcd": {"storage": in_class(name)}}},
            "spec.globalTopoServer.etcd",
            "keep the class",
        ),
        (
            lambda name: local_topo(storage=in_class(name)),
            "spec.cells[0].spec.localTopoServer.etcd",
            "keep the class",
        ),
        (
            lambda name: {"backup": {"type": "filesystem", "filesystem": {"storage": in_class(name)}}},
            f"{SHARD}.backup.filesystem",
            "keep the class",
        ),
    ],
    ids=["pool", "etcd", "local etcd", "backup"],
)
def test_the_storage_class_of_existing_volumes_cannot_change(component: Any, field: str, cure: str) -> None:
    def changed(before: str | None, after: str | None) -> list[tuple[str, str]]:
        found = validate_update(resolved(typed(**component(before))), resolved(typed(**component(after))))
        return [tuple(problem) for problem in found]  # type: ignore[misc]

    exist = f"the volumes exist already; {cure}"
    assert changed("slow", "slow") == []
    assert changed("slow", "fast") == [
        (f"{field}.storage.class", f"cannot change from slow to fast: {exist}")
    ]
    assert changed(None, "fast") == [
        (f"{field}.storage.class", f"cannot change from the default class to fast: {exist}")
    ]


def test_a_new_pool_may_have_another_storage_class() -> None:
    before = pool(storage=in_class("slow"))
    after = shard(
        spec={"pools": {"main": {"storage": in_class("slow")}, "fast": {"storage": in_class("fast")}}}
    )
    assert validate_update(resolved(typed(**before)), resolved(typed(**after))) == []


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (
            shard(spec={"pools": {"copies": {"type": "readOnly"}}}),
            "its servers confirm writes and may become primary",
        ),
        ({"globalTopoServer": {"etcd": {"replicas": 1}}}, "one member has no redundancy"),
        ({"globalTopoServer": {"etcd": {"replicas": 4}}}, "tolerate no more failures than 3"),
        ({"pvcDeletionPolicy": {"whenDeleted": "Delete"}}, "loses all data when the cluster is deleted"),
        ({"pvcDeletionPolicy": {"whenScaled": "Delete"}}, "loses the data of every server"),
        (
            local_topo(),
            "localTopoServer.etcd.replicas: one member has no redundancy: its loss stops the cell",
        ),
        (local_topo(replicas=2), "localTopoServer.etcd.replicas: 2 members tolerate no more failures than 1"),
        (pool(cell="z1"), "write cells: [z1]"),
        (pool(replicas=2), "write replicasPerCell: 2"),
        (pool(replicasPerCell=1), "one server cannot elect a primary"),
        ({"durabilityPolicy": "MULTI_CELL_AT_LEAST_2"}, "needs servers in two cells"),
        (
            {"cells": [{"zone": "a"}, {"zone": "b"}], **ON_VOLUMES_WITH_OWN_CERTIFICATES},
            "a filesystem repository stays in its cell, and servers that start",
        ),
        (
            {**pool(replicasPerCell=3), **ON_VOLUMES_WITH_OWN_CERTIFICATES},
            "give it accessModes: [ReadWriteMany]",
        ),
        (
            {
                **shard(spec={"pools": {"a": {"replicasPerCell": 1}, "b": {"replicasPerCell": 1}}}),
                **ON_VOLUMES_WITH_OWN_CERTIFICATES,
            },
            "give it accessModes: [ReadWriteMany]",
        ),
        ({"externalGateway": {"enabled": True}}, "the Service gets type LoadBalancer"),
    ],
)
def test_inadvisable_specs_give_a_warning(spec: dict[str, Any], words: str) -> None:
    typed_spec = typed(**spec)
    assert [warning for warning in spec_warnings(typed_spec, resolved(typed_spec)) if words in warning]


def warnings_of(spec: dict[str, Any], existing: Templates = NONE) -> list[str]:
    typed_spec = typed(**spec)
    return spec_warnings(typed_spec, resolved(typed_spec, existing))


def test_built_in_repository_gives_no_warning() -> None:
    spec = {"cells": [{"zone": "z1"}, {"zone": "z2"}], **pool(replicasPerCell=3)}
    assert not [warning for warning in warnings_of(spec) if "backup" in warning or "repositor" in warning]


@pytest.mark.parametrize(
    "spec",
    [
        {"cells": [{"zone": "z1"}, {"zone": "z2"}], **ON_VOLUMES},
        {
            **pool(replicasPerCell=3),
            "backup": {
                "type": "filesystem",
                "filesystem": {"storage": {"accessModes": ["ReadWriteOncePod"]}},
            },
        },
    ],
    ids=["several cells", "a volume for one pod"],
)
def test_a_volume_that_a_pod_of_its_own_serves_gives_no_warning(spec: dict[str, Any]) -> None:
    assert not [warning for warning in warnings_of(spec) if "repositor" in warning or "volume" in warning]


DELETE = {"whenDeleted": "Delete"}
GROUP = "spec.databases[postgres].tablegroups[default]"


def in_group(policy: dict[str, str]) -> dict[str, Any]:
    spec = shard()
    spec["databases"][0]["tablegroups"][0]["pvcDeletionPolicy"] = policy
    return spec


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        ({"pvcDeletionPolicy": DELETE}, "spec.pvcDeletionPolicy"),
        ({"globalTopoServer": {"pvcDeletionPolicy": DELETE}}, "spec.globalTopoServer.pvcDeletionPolicy"),
        (
            {"globalTopoServer": {"etcd": {"pvcDeletionPolicy": DELETE}}},
            "spec.globalTopoServer.etcd.pvcDeletionPolicy",
        ),
        (
            local_topo(pvcDeletionPolicy=DELETE),
            "spec.cells[0].spec.localTopoServer.etcd.pvcDeletionPolicy",
        ),
        (in_group(DELETE), f"{GROUP}.pvcDeletionPolicy"),
        (shard(spec={"pvcDeletionPolicy": DELETE}), f"{SHARD}.pvcDeletionPolicy"),
        (pool(pvcDeletionPolicy=DELETE), f"{SHARD}.pools[main].pvcDeletionPolicy"),
    ],
)
def test_deleted_volumes_give_one_warning_at_the_level_where_the_policy_begins(
    spec: dict[str, Any], named: str
) -> None:
    found = [warning.split(":")[0] for warning in warnings_of(spec) if "Delete loses" in warning]
    assert found == [f"{named}.whenDeleted"]


def test_an_etcd_that_keeps_its_volumes_in_a_server_that_deletes_them_gives_no_warning_of_its_own() -> None:
    server = {"pvcDeletionPolicy": DELETE, "etcd": {"pvcDeletionPolicy": {"whenScaled": "Delete"}}}
    found = [
        warning.split(":")[0] for warning in warnings_of({"globalTopoServer": server}) if "loses" in warning
    ]
    assert found == [
        "spec.globalTopoServer.pvcDeletionPolicy.whenDeleted",
        "spec.globalTopoServer.etcd.pvcDeletionPolicy.whenScaled",
    ]


def test_a_pool_that_keeps_its_volumes_in_a_cluster_that_deletes_them_gives_no_warning_of_its_own() -> None:
    spec = {"pvcDeletionPolicy": {"whenScaled": "Delete"}, **pool(pvcDeletionPolicy={"whenScaled": "Retain"})}
    found = [warning.split(":")[0] for warning in warnings_of(spec) if "Delete loses" in warning]
    assert found == ["spec.pvcDeletionPolicy.whenScaled"]


def test_a_template_that_deletes_volumes_gives_a_warning_to_the_cluster_that_uses_it() -> None:
    existing = templates(shard={"default": {"pools": {"main": {"pvcDeletionPolicy": DELETE}}}})
    found = [warning for warning in warnings_of(shard(), existing) if "Delete loses" in warning]
    assert found == [
        f"{SHARD}.pools[main].pvcDeletionPolicy.whenDeleted: Delete loses all data when the pool is deleted"
    ]


@pytest.mark.parametrize(
    ("template", "pools", "warns"),
    [
        ({"pools": {"main": {}}}, {"mian": {}}, True),
        ({"pools": {"main": {}}}, {"main": {}}, False),
        ({}, {"mian": {}}, False),
    ],
    ids=["another name", "the same name", "a template without pools"],
)
def test_an_override_of_a_pool_that_the_template_lacks_gives_a_warning(
    template: dict[str, Any], pools: dict[str, Any], warns: bool
) -> None:
    existing = templates(shard={"standard": template})
    spec = shard(shardTemplate="standard", overrides={"pools": pools})
    found = [warning for warning in warnings_of(spec, existing) if "adds a pool" in warning]
    expected = (
        f"{SHARD}.overrides.pools[mian]: ShardTemplate standard has no pool 'mian' (it has main);"
        " this adds a pool, check the name"
    )
    assert found == ([expected] if warns else [])


def test_a_shard_that_the_default_images_do_not_support_gives_a_warning_only_with_these_images() -> None:
    spec = shard()
    spec["databases"][0]["tablegroups"][0]["shards"][0]["name"] = "0"
    default_images, own_images = typed(**spec), typed(**spec, images={"multipooler": "mine"})
    words = "the current images only support"
    assert [
        warning for warning in spec_warnings(default_images, resolved(default_images)) if words in warning
    ]
    assert not [warning for warning in spec_warnings(own_images, resolved(own_images)) if words in warning]


@pytest.mark.parametrize(
    ("options", "warns"),
    [
        ({}, False),
        ({"propagationPolicy": "Background"}, False),
        ({"propagationPolicy": "Orphan"}, False),
        ({"propagationPolicy": "Foreground"}, True),
    ],
)
def test_foreground_deletion_of_a_cluster_gives_a_warning(options: dict[str, Any], warns: bool) -> None:
    warnings = deletion_warnings(options)
    assert bool(warnings) is warns
    assert all("without the operator's order" in text for text in warnings)
