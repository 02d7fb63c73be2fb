"""Faults from annotations."""

from steward.testkit.fake_data_plane import ANNOTATION, DataPlaneFault, FaultWord
from steward.testkit.fake_data_plane.faults import faults_of_server, faults_without_server, parse_faults


def test_an_annotation_names_faults_and_unknown_words_are_returned() -> None:
    assert parse_faults({}) == (frozenset(), [])
    faults, unknown = parse_faults({ANNOTATION: "silent-etcd, no-primary,nonsense,nonsense@pod-0"})
    assert faults == {FaultWord(DataPlaneFault.SILENT_ETCD), FaultWord(DataPlaneFault.NO_PRIMARY)}
    assert unknown == ["nonsense", "nonsense@pod-0"]


def test_a_fault_with_a_server_is_limited_to_it() -> None:
    faults, _ = parse_faults({ANNOTATION: "never-streams@pod-0,slow-postgres"})
    assert faults_without_server(faults) == {DataPlaneFault.SLOW_POSTGRES}
    assert faults_of_server(faults, "pod-1") == {DataPlaneFault.SLOW_POSTGRES}
    assert faults_of_server(faults, "pod-0") == {DataPlaneFault.SLOW_POSTGRES, DataPlaneFault.NEVER_STREAMS}
