"""What an operator is told about graceful deletion by its environment."""

import pytest

from steward.runtime.manager.settings import SettingsError, settings_from

PROMISED = {
    "DEFAULT_GRACEFUL_SHUTDOWN_PERIOD": "45s",
    "MAX_GRACEFUL_SHUTDOWN_PERIOD": "10m",
    "ETCD_DELETION_PROTECTION_DEFAULT": "disabled",
}


def test_the_variables_have_the_names_that_were_promised() -> None:
    told, untold = settings_from(PROMISED), settings_from({})
    assert (told.default_graceful_shutdown_period, untold.default_graceful_shutdown_period) == (45, 30)
    assert (told.max_graceful_shutdown_period, untold.max_graceful_shutdown_period) == (600, 300)
    assert (told.etcd_deletion_protection_default, untold.etcd_deletion_protection_default) == (
        "disabled",
        "enabled",
    )


@pytest.mark.parametrize(
    ("variable", "text", "cure"),
    [
        ("DEFAULT_GRACEFUL_SHUTDOWN_PERIOD", "soon", "a duration such as 15s or 1m30s"),
        ("DEFAULT_GRACEFUL_SHUTDOWN_PERIOD", "-30s", "a duration such as 15s or 1m30s"),
        ("MAX_GRACEFUL_SHUTDOWN_PERIOD", "a week", "a duration such as 15s or 1m30s"),
        ("ETCD_DELETION_PROTECTION_DEFAULT", "maybe", "enabled or disabled"),
    ],
)
def test_a_variable_that_makes_no_sense_is_named_with_the_cure(variable: str, text: str, cure: str) -> None:
    """It is the operator's own Deployment that is wrong: its roll-out stops, and the replica before goes on."""
    with pytest.raises(SettingsError) as refused:
        settings_from({variable: text})
    assert variable in str(refused.value)
    assert cure in str(refused.value)
