"""The view Now."""

from dataclasses import replace

from steward.cli.commands.status import status_lines
from steward.page.models.now import SHOWN_SENTENCES, now_sections
from tests.page.support import sample_objects as sample
from tests.page.support.snapshots import snapshot_of


def test_the_sentences_are_those_of_steward_status() -> None:
    snapshot = snapshot_of(*sample.sample())
    shown = now_sections(snapshot)["sentences"].shown
    said = [next(iter(status_lines(node, snapshot.now))).text for node in snapshot.trees]
    assert sorted(sentence.text for sentence in shown) == sorted(line[2:] for line in said)


def test_problems_come_first_with_their_cure() -> None:
    found = now_sections(snapshot_of(*sample.sample(), sample.held_registry()))
    first = found["sentences"].shown[0]
    assert (first.health, first.object.href) == ("failed", "/registry/shop/customers")
    assert first.command == "steward hold approve tenantregistry/customers -n shop"


def test_tenants_are_counted_by_health() -> None:
    broken = sample.deployment("acme-web", ready=1)
    counts = {each.kind: each for each in now_sections(snapshot_of(*sample.sample(), broken))["counts"]}
    assert (counts["Tenant"].ready, counts["Tenant"].waiting) == (23, 1)
    assert counts["MultigresCluster"].ready == 1


def test_a_held_deletion_names_tenants_and_the_approval() -> None:
    (held,) = now_sections(snapshot_of(sample.held_registry()))["holds"]
    assert (held.names[0].name, held.names[0].href) == ("acme-web", "/tenant/shop/acme-web")
    assert held.command == "steward hold approve tenantregistry/customers -n shop"


def test_a_waiting_update_is_shown_with_its_command() -> None:
    cluster = sample.cluster()
    cluster["status"]["conditions"] = [*sample.READY, sample.condition("TemplateUpdateAvailable", "True")]
    (update,) = now_sections(snapshot_of(cluster))["updates"]
    assert update.command == "steward updates show db -n shop"


def test_rejected_rows_are_listed_with_their_reasons() -> None:
    status = sample.status(rejectedRows=1, rejected=[{"uid": "<b>", "reason": "the uid is too long"}])
    (row,) = now_sections(snapshot_of(sample.registry(status=status)))["rejected"]
    assert row.text == "row '<b>': the uid is too long"


def test_a_finished_rollout_is_not_shown() -> None:
    running = sample.template("db", phase="InProgress", updatedNodes=6, updatingNodes=2)
    (bar,) = now_sections(snapshot_of(sample.template("web"), running))["rollouts"]
    assert (bar.object.name, bar.done, bar.updating, bar.held_back) == ("db", 4, 2, 6)


def test_a_stale_backup_is_shown() -> None:
    cluster = sample.cluster()
    stale = sample.condition("BackupHealthy", "False", "the last backup is 3 d old")
    cluster["status"]["conditions"] = [*sample.READY, stale]
    (line,) = now_sections(snapshot_of(cluster))["backups"]
    assert line.text == "the last backup is 3 d old (10 min)"


def test_of_very_many_objects_a_part_is_shown() -> None:
    clusters = [sample.cluster(f"db-{number:04}") for number in range(SHOWN_SENTENCES + 7)]
    found = now_sections(snapshot_of(*clusters))["sentences"]
    assert (len(found.shown), found.more) == (SHOWN_SENTENCES, 7)


def test_a_pause_is_noted_with_the_command_that_ends_it() -> None:
    paused = sample.cluster()
    paused["status"]["conditions"] = [*sample.READY, sample.condition("Paused", "True")]
    (sentence,) = now_sections(snapshot_of(paused))["sentences"].shown
    assert [note.command for note in sentence.notes] == ["steward resume multigrescluster/db -n shop"]


def test_a_waiting_update_is_not_noted_twice() -> None:
    found = now_sections(snapshot_of(*sample.waiting_update()))
    assert len(found["updates"]) == 1
    assert found["sentences"].shown[0].notes == ()


def test_a_held_deletion_says_how_many_tenants_it_does_not_name() -> None:
    (held,) = now_sections(snapshot_of(sample.held_registry(12)))["holds"]
    assert (len(held.names), held.more_names) == (3, 9)


def test_claims_of_a_cluster_that_is_gone_are_shown_with_their_command() -> None:
    snapshot = replace(snapshot_of(*sample.claims()), are_clusters_known=True)
    (claims,) = now_sections(snapshot)["claims"]
    assert claims.text.startswith("3 unused volume claims of MultigresCluster shop/db, which is gone")
    assert claims.command == "steward volumes db -n shop"


def test_claims_are_not_called_unused_by_a_reader_who_may_not_see_clusters() -> None:
    assert now_sections(snapshot_of(*sample.claims()))["claims"] == []
